import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chunksOf } from './chunking.policy.js';
import type { Chunking, Section } from './document.port.js';
import { tokenCount } from './token-count.js';

const CHUNKING: Chunking = { maxTokens: 1250, minTokens: 150 };
const small = { maxTokens: 40, minTokens: 10 };
const section = (text: string, title = 'Title'): Section => ({ title, text });
const words = (count: number, word = 'word') => Array.from({ length: count }, (_, index) => `${word}${index}`).join(' ');

describe('a section', () => {
  it('that fits becomes one chunk with its heading as title', () => {
    expect(chunksOf([section('# Setup\n\nRun the installer.', 'Setup')], CHUNKING)).toEqual([
      { title: 'Setup', text: '# Setup\n\nRun the installer.', tokens: tokenCount('# Setup\n\nRun the installer.') },
    ]);
  });

  it('that is too long is cut between paragraphs before it is cut between sentences', () => {
    const first = words(10, 'alpha');
    const second = words(10, 'beta');
    const chunks = chunksOf([section(`${first}.\n\n${second}.`)], { maxTokens: 35, minTokens: 1 });
    expect(chunks.map(({ text }) => text)).toEqual([`${first}.`, `${second}.`]);
  });

  it('without any place to cut is still cut to the maximum size', () => {
    const chunks = chunksOf([section('A1b2'.repeat(2_000))], small);
    expect(chunks.every(({ tokens }) => tokens <= small.maxTokens)).toBe(true);
    expect(chunks.map(({ text }) => text).join('')).toBe('A1b2'.repeat(2_000));
  });

  it('of white space yields no chunk', () => expect(chunksOf([section(' \n\t\n ')], CHUNKING)).toEqual([]));
});

describe('short neighbours', () => {
  it('are joined to a chunk whose title names every heading', () => {
    const chunks = chunksOf([section('One\n\nA little.', 'One'), section('Two\n\nA little more.', 'Two')], CHUNKING);
    expect(chunks.map(({ title, text }) => [title, text])).toEqual([['One · Two', 'One\n\nA little.\n\nTwo\n\nA little more.']]);
  });

  it('get a title that names each page once, with successive pages as a range', () => {
    const pages = [1, 2, 3, 5].map((page) => ({ ...section(`The text of page ${page}.`, 'Report'), page }));
    expect(chunksOf(pages, CHUNKING).map(({ title }) => title)).toEqual(['Report, pages 1–3, 5']);
    expect(chunksOf(pages.slice(1, 2), CHUNKING).map(({ title }) => title)).toEqual(['Report, page 2']);
    expect(chunksOf([section('a', 'Twice'), section('b', 'Twice')], CHUNKING).map(({ title }) => title)).toEqual(['Twice']);
  });

  it('get no title with a page whose text is in another chunk', () => {
    const pages = [words(30, 'one'), words(30, 'two')].map((text, index) => ({ ...section(text, 'Report'), page: index + 1 }));
    const titles = chunksOf(pages, { maxTokens: 70, minTokens: 10 }).map(({ title }) => title);
    expect(titles).toEqual(['Report, page 1', 'Report, page 2']);
  });

  it('are not joined if the title would become too long', () => {
    const sections = Array.from({ length: 12 }, (_, index) => section(`text${index}`, `${index} ${'Heading'.repeat(8)}`));
    const chunks = chunksOf(sections, CHUNKING);
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.flatMap(({ title }) => title.split(' · '))).toEqual(sections.map(({ title }) => title));
  });

  it('at the end of the document are joined with the chunk before', () => {
    const chunks = chunksOf([section(words(8), 'Long'), section('The end.', 'End')], { maxTokens: 60, minTokens: 12 });
    expect(chunks.map(({ title }) => title)).toEqual(['Long · End']);
  });
});

it('never splits a surrogate pair or separates a letter from its accents', () => {
  const family = '👩‍👩‍👧'.repeat(300);
  const accents = 'e\u0301'.repeat(900);
  for (const text of [family, accents]) {
    for (const chunk of chunksOf([section(text)], small)) {
      expect(chunk.text).not.toMatch(/^[\p{M}\u200d\ufe0f]|[\ud800-\udbff]$|^[\udc00-\udfff]/u);
    }
  }
});

it('takes time proportional to the text, even if there is nowhere to cut', () => {
  const startedAt = performance.now();
  chunksOf([section('x'.repeat(200_000)), section('漢'.repeat(50_000)), section(`a${' '.repeat(200_000)}b`)], CHUNKING);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});

it('counts text that looks like a control token as plain text', () => expect(tokenCount('<|endoftext|>')).toBeGreaterThan(1));

it('keeps every character once, within the maximum size, and deterministically', () => {
  const text = fc.array(
    fc.constantFrom('word', 'Ünïcode', '漢字', '👩‍👩‍👧', '.', '\n', '\n\n', ' ', '。', 'x'.repeat(60), '\u0301'),
    { maxLength: 300 },
  );
  const sections = fc.array(
    text.map((parts) => section(parts.join(''))),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(sections, (given) => {
      const chunks = chunksOf(given, small);
      expect(chunks).toEqual(chunksOf(given, small));
      for (const chunk of chunks) {
        expect(chunk.tokens).toBeLessThanOrEqual(small.maxTokens);
        expect(chunk.tokens).toBe(tokenCount(chunk.text));
      }
      const visible = (all: readonly { text: string }[]) => all.map((each) => each.text.replace(/\s+/g, '')).join('');
      expect(visible(chunks)).toBe(visible(given));
    }),
    { numRuns: 150 },
  );
});
