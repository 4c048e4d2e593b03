import { describe, expect, it } from '@jest/globals';
import { haveTitle, titleOfPlaces } from './chunk-title.policy.js';

const pages = (...numbers: number[]) => numbers.map((page) => ({ title: 'Report', page }));

describe('the title of several places', () => {
  it.each([
    ['no place', [], ''],
    ['a heading', [{ title: 'Install' }], 'Install'],
    ['two headings', [{ title: 'Install' }, { title: 'Upgrade' }], 'Install · Upgrade'],
    ['a heading twice', [{ title: 'Install' }, { title: 'Upgrade' }, { title: 'Install' }], 'Install · Upgrade'],
    ['a page', pages(1), 'Report, page 1'],
    ['a page twice', pages(1, 1), 'Report, page 1'],
    ['two pages', pages(1, 2), 'Report, pages 1–2'],
    ['several ranges of pages', pages(1, 2, 3, 5, 7, 8), 'Report, pages 1–3, 5, 7–8'],
    ['pages of two documents', [...pages(1, 2), { title: 'Plan', page: 9 }], 'Report, pages 1–2 · Plan, page 9'],
  ])('names %s', (_, places, title) => expect(titleOfPlaces(places)).toBe(title));

  it('has at most 200 characters', () => {
    const places = (length: number) => [{ title: 'a'.repeat(100) }, { title: 'b'.repeat(length) }];
    expect(haveTitle(places(97))).toBe(true);
    expect(haveTitle(places(98))).toBe(false);
  });
});
