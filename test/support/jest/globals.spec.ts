import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';

const thrown = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** Checks that hold, each with one of the same form that does not. */
const checks: readonly [what: string, holds: () => unknown, fails: () => unknown][] = [
  ['toBe', () => expect(1).toBe(1), () => expect(1).toBe(2)],
  ['not.toBe', () => expect(1).not.toBe(2), () => expect(1).not.toBe(1)],
  ['toEqual', () => expect({ a: [1] }).toEqual({ a: [1] }), () => expect({ a: [1] }).toEqual({ a: [2] })],
  ['toMatchObject', () => expect({ a: 1, b: 2 }).toMatchObject({ a: 1 }), () => expect({ b: 2 }).toMatchObject({ a: 1 })],
  [
    'an asymmetric matcher',
    () => expect(['ab']).toEqual([expect.stringContaining('a')]),
    () => expect(['b']).toEqual([expect.stringContaining('a')]),
  ],
  [
    'toThrow',
    () => expect(() => JSON.parse('{') as unknown).toThrow(SyntaxError),
    () => expect(() => JSON.parse('{}') as unknown).toThrow(SyntaxError),
  ],
  ['not.toThrow', () => expect(() => 1).not.toThrow(), () => expect(() => JSON.parse('{') as unknown).not.toThrow()],
];

// `expect` is what is tested, so `assert` decides.
describe('an expectation', () => {
  it.each(checks)('holds and fails as its matcher says: %s', (_, holds, fails) => {
    assert.equal(thrown(holds), undefined);
    assert.ok(thrown(fails) instanceof Error);
  });

  it('says what was expected, with a stack trace that begins in the suite', () => {
    const { message, stack } = thrown(() => expect(1).toBe(2)) as Error;
    assert.match(message, /Expected:.*2[^]*Received:.*1/);
    assert.match(
      stack!.split('\n').find((line) => /^\s+at /.test(line))!,
      /globals\.spec\.ts/,
    );
  });

  it('waits for a promise', async () => {
    await expect(Promise.resolve(1)).resolves.toBe(1);
    await expect(Promise.reject(new Error('no'))).rejects.toThrow('no');
    await assert.rejects(expect(Promise.resolve(1)).resolves.toBe(2));
    await assert.rejects(expect(Promise.resolve(1)).rejects.toThrow());
  });
});
