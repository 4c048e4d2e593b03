import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Finding, linted, LINTED_MS_MAX } from '../support/lint.js';

const QUADRATIC = [
  ['a run with an ambiguous end', 'export const words = /\\w+\\.\\w+/gu;'],
  ['a run up to the end', "export const base = (url: string) => url.replace(/\\/+$/, '');"],
  ['a quantifier within a quantifier', 'export const nested = /^(?:a+)+$/;'],
] as const;

const LINEAR = 'export const words = /[\\w.]+/gu;';

const folders = ['src/resources/sources', 'projections/chunks', 'src/resources/documents/formats'];
const TEST_FILE = 'test/support/probe.ts';
const LINEAR_FILE = 'src/resources/sources/linear.ts';
const quadraticFile = (folder: string, place: number) => `${folder}/quadratic-${place}.ts`;

let found: (file: string) => readonly Finding[];
beforeAll(async () => {
  const plants = folders.flatMap((folder) => QUADRATIC.map(([, code], place) => [quadraticFile(folder, place), code] as const));
  found = await linted(import.meta.filename, {
    ...Object.fromEntries(plants),
    [TEST_FILE]: QUADRATIC[0][1],
    [LINEAR_FILE]: LINEAR,
  });
}, LINTED_MS_MAX);

describe('patterns that take quadratic time', () => {
  it.each(QUADRATIC.map(([name], place) => [name, place] as const))('are refused: %s', (_, place) => {
    for (const folder of folders)
      expect(found(quadraticFile(folder, place)).map(({ rule }) => rule)).toEqual([
        expect.stringMatching(/^regexp\/no-super-linear-(move|backtracking)$/),
      ]);
  });

  it('are allowed for text that only tests write', () => {
    expect(found(TEST_FILE)).toEqual([]);
  });

  it('are distinguished from linear ones', () => {
    expect(found(LINEAR_FILE)).toEqual([]);
  });
});
