import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  forModel,
  forReader,
  isErrorResult,
  MODEL_RESULT_CHARACTERS_MAX,
  SHOWN_RESULT_BYTES_MAX,
  SHOWN_RESULT_CHARACTERS_MAX,
  textOf,
} from './tool-result.policy.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('a result for the model', () => {
  it('is complete up to the limit', () => {
    const text = 'x'.repeat(MODEL_RESULT_CHARACTERS_MAX);
    expect(forModel(text)).toBe(text);
  });
  it('is the beginning and the end of a longer text, with the number of omitted characters', () => {
    const told = forModel(`begin${'x'.repeat(MODEL_RESULT_CHARACTERS_MAX)}end`);
    expect(told.length).toBeLessThanOrEqual(MODEL_RESULT_CHARACTERS_MAX);
    expect(told).toMatch(/^beginx+\n… \(\d+ characters are left out here\) …\nx+end$/);
  });
  it('does not change when it is shortened again', () => {
    const told = forModel('x'.repeat(5_000), 2_000);
    expect(forModel(told, 2_000)).toBe(told);
  });
  it('never splits a surrogate pair and never exceeds the limit', () => {
    fc.assert(
      fc.property(fc.nat(8), fc.integer({ min: 100, max: 120 }), (lead, max) => {
        const told = forModel('x'.repeat(lead) + '😀'.repeat(200), max);
        expect(told.isWellFormed()).toBe(true);
        expect(told.length).toBeLessThanOrEqual(max);
      }),
    );
  });
  it('is unchanged text, or JSON for all other values', () => {
    expect(['text', { a: 1 }, null, undefined, 7].map(textOf)).toEqual(['text', '{"a":1}', 'null', 'null', '7']);
  });
});

describe('a result for the reader', () => {
  it.each([
    ['text', 'text'],
    ['', ''],
    [{ a: [1] }, '{"a":[1]}'],
    [0, '0'],
    [false, 'false'],
  ])('is text, of %j %j, because clients expect text', (value, shown) => expect(forReader(value)).toBe(shown));
  it.each([[null], [undefined]])('is null for %p', (value) => expect(forReader(value)).toBeNull());
  it('is complete up to the limit, otherwise its beginning', () => {
    const most = 'x'.repeat(SHOWN_RESULT_CHARACTERS_MAX);
    expect(forReader(most)).toBe(most);
    expect(forReader(`${most}y`)).toBe(`${most}...`);
    expect(forReader({ text: most })).toBe(`{"text":"${most.slice(0, -9)}...`);
  });
  it('fits the byte limit with any characters and never splits a surrogate pair', () => {
    for (const character of ['x', 'ä', '漢', '😀', '\u0001', '"', '\\', '\n']) {
      for (const value of [character.repeat(5_000), { [character]: character.repeat(5_000) }, [character.repeat(1_999)]]) {
        const shown = forReader(value);
        expect(bytesOf(shown)).toBeLessThanOrEqual(SHOWN_RESULT_BYTES_MAX);
        expect(shown?.isWellFormed()).toBe(true);
      }
    }
  });
});

it.each([
  [{ status: 'error' }, true],
  [{ error: 'no' }, true],
  [{ error: true }, true],
  [{ error: null }, false],
  [{ error: '' }, false],
  [{ status: 'ok' }, false],
  ['error', false],
  [[{ error: 'no' }], false],
  [null, false],
])('%j counts as an error: %p', (result, isError) => expect(isErrorResult(result)).toBe(isError));
