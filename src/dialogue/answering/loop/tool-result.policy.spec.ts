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

describe('what a model is told of a result', () => {
  it('is all of it up to the limit', () => {
    const text = 'x'.repeat(MODEL_RESULT_CHARACTERS_MAX);
    expect(forModel(text)).toBe(text);
  });
  it('is the beginning and the end of a longer one, and how much is left out', () => {
    const told = forModel(`begin${'x'.repeat(MODEL_RESULT_CHARACTERS_MAX)}end`);
    expect(told.length).toBeLessThanOrEqual(MODEL_RESULT_CHARACTERS_MAX);
    expect(told).toMatch(/^beginx+\n… \(\d+ characters are left out here\) …\nx+end$/);
  });
  it('is the same when it was shortened before', () => {
    const told = forModel('x'.repeat(5_000), 2_000);
    expect(forModel(told, 2_000)).toBe(told);
  });
  it('is never half a character, and never too long', () => {
    fc.assert(
      fc.property(fc.nat(8), fc.integer({ min: 100, max: 120 }), (lead, max) => {
        const told = forModel('x'.repeat(lead) + '😀'.repeat(200), max);
        expect(told.isWellFormed()).toBe(true);
        expect(told.length).toBeLessThanOrEqual(max);
      }),
    );
  });
  it('is text as it is, and everything else as JSON', () => {
    expect(['text', { a: 1 }, null, undefined, 7].map(textOf)).toEqual(['text', '{"a":1}', 'null', 'null', '7']);
  });
});

describe('what is shown of a result', () => {
  it.each([['text'], [{ a: [1] }], [null], [0], [false], ['']])('is the value itself while it is short: %j', (value) => {
    expect(forReader(value)).toBe(value);
  });
  it('is nothing of nothing', () => expect(forReader(undefined)).toBeNull());
  it('is up to a limit all of it, else its beginning', () => {
    const most = 'x'.repeat(SHOWN_RESULT_CHARACTERS_MAX);
    expect(forReader(most)).toBe(most);
    expect(forReader(`${most}y`)).toBe(`${most}...`);
    expect(forReader({ text: most })).toBe(`{"text":"${most.slice(0, -9)}...`);
  });
  it('fits its bytes, whatever characters it is of, and is never half a character', () => {
    for (const character of ['x', 'ä', '漢', '😀', '\u0001', '"', '\\', '\n']) {
      for (const value of [character.repeat(5_000), { [character]: character.repeat(5_000) }, [character.repeat(1_999)]]) {
        const shown = forReader(value);
        expect(bytesOf(shown)).toBeLessThanOrEqual(SHOWN_RESULT_BYTES_MAX);
        if (typeof shown === 'string') expect(shown.isWellFormed()).toBe(true);
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
])('%j went wrong: %p', (result, isError) => expect(isErrorResult(result)).toBe(isError));
