import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sameJson } from './same-json.js';

/** The same value with the fields of its objects in reverse order. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, each]) => [name, turned(each)]),
  );
};

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

describe('sameJson', () => {
  it('ignores the order of fields', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => sameJson(value, turned(value))));
  });

  it('distinguishes values with different JSON', () => {
    const json = fc.jsonValue({ maxDepth: 2 });
    fc.assert(fc.property(json, json, (a, b) => sameJson(a, b) === (canonical(a) === canonical(b))));
  });

  it.each([
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ toString: 1 }, { a: 1 }, false],
    [null, {}, false],
    [1, '1', false],
  ])('%j and %j: %s', (a, b, same) => {
    expect([sameJson(a, b), sameJson(b, a)]).toEqual([same, same]);
  });
});
