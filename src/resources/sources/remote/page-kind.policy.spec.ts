import { describe, expect, it } from '@jest/globals';
import { pageExtension, pageFilename } from './page-kind.policy.js';

describe('the kind of a page', () => {
  it.each([
    ['text/html; charset=utf-8', 'https://a.example/x', 'html'],
    ['application/xhtml+xml', 'https://a.example/x', 'html'],
    ['application/pdf', 'https://a.example/download?id=7', 'pdf'],
    ['text/markdown', 'https://a.example/x', 'md'],
    ['text/plain', 'https://a.example/readme.md', 'md'],
    ['text/plain', 'https://a.example/readme', 'txt'],
    ['application/octet-stream', 'https://a.example/prices.xlsx', 'xlsx'],
    ['text/css', 'https://a.example/x.css', 'txt'],
    [undefined, 'https://a.example/x', 'html'],
    ['application/octet-stream', 'https://a.example/setup.exe', undefined],
    ['image/png', 'https://a.example/x.png', undefined],
    ['text/xml', 'https://a.example/feed', undefined],
  ])('is, for the type %s at %s, %s', (type, url, extension) => {
    expect(pageExtension(type, url)).toBe(extension);
  });
});

describe('the name of a page', () => {
  it('is its address with the extension of its kind', () => {
    const named = (url: string, extension: string) => pageFilename(url, extension, new Set());
    expect(named('https://a.example/', 'html')).toBe('a.example.html');
    expect(named('https://a.example:8080/docs/%C3%BCber/', 'html')).toBe('a.example:8080/docs/über.html');
    expect(named('https://a.example/x.pdf', 'pdf')).toBe('a.example/x.pdf');
    expect(named('https://a.example/x?page=2', 'html')).toBe('a.example/x?page=2.html');
    expect(named('https://a.example/%E0%A4%A', 'html')).toBe('a.example/%E0%A4%A.html');
    expect(named(`https://a.example/${'x'.repeat(500)}`, 'html')).toHaveLength(205);
  });

  it('is cut between characters', () => {
    const url = `https://a.example/${encodeURIComponent('\u{1F600}'.repeat(150))}`;
    expect(pageFilename(url, 'html', new Set())).toBe(`a.example/${'\u{1F600}'.repeat(95)}.html`);
    expect(pageFilename(`${url.replace('a.', 'aa.')}`, 'html', new Set())).toBe(`aa.example/${'\u{1F600}'.repeat(94)}.html`);
  });

  it('is unique', () => {
    const taken = new Set<string>();
    const names = ['https://a.example/x', 'https://a.example/x/', 'http://a.example/x'].map((url) =>
      pageFilename(url, 'html', taken),
    );
    expect(names).toEqual(['a.example/x.html', 'a.example/x (2).html', 'a.example/x (3).html']);
  });
});
