import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CHUNKS_MAX, chunksWithinBounds, fuse, inverseFrequency, selectFairly } from './retrieval.policy.js';

it.each([
  [6, 6],
  [-1, 0],
  [2.9, 2],
  [501, CHUNKS_MAX],
  [Infinity, CHUNKS_MAX],
  [NaN, 6],
])('a request for %p chunks is clamped to %p', (wanted, given) => expect(chunksWithinBounds(wanted)).toBe(given));

it('a rare word weighs more than a common one, and no weight is negative', () => {
  expect(inverseFrequency(1, 100)).toBeGreaterThan(inverseFrequency(50, 100));
  expect(inverseFrequency(100, 100)).toBeGreaterThan(0);
});

it('an item in two rankings comes before the first item of one of them', () => {
  const fused = fuse([
    ['a', 'b'],
    ['c', 'b'],
  ]);
  expect([...fused].sort((x, y) => y[1] - x[1])[0]?.[0]).toBe('b');
});

describe('a fair selection', () => {
  const candidate = (sourceId: string, score: number) => ({ sourceId, score });
  const all = [candidate('a', 9), candidate('a', 8), candidate('a', 7), candidate('b', 2), candidate('b', 1)];
  const scores = (chosen: readonly { score: number }[]) => chosen.map(({ score }) => score);

  it('gives each source its part and fills the rest with the best', () => {
    expect(scores(selectFairly(all, [{ id: 'a' }, { id: 'b' }], 4))).toEqual([9, 8, 2, 1]);
    expect(scores(selectFairly(all, [{ id: 'a' }, { id: 'b' }], 3))).toEqual([9, 8, 2]);
    expect(scores(selectFairly(all, [{ id: 'a' }, { id: 'b' }], 1))).toEqual([9]);
  });

  it('gives a source with its own count that count, and the others the rest of the total', () => {
    expect(scores(selectFairly(all, [{ id: 'a', chunks: 1 }, { id: 'b' }], 2))).toEqual([9, 2]);
    expect(scores(selectFairly(all, [{ id: 'a', chunks: 5 }, { id: 'b' }], 4))).toEqual([9, 8, 7, 2]);
    expect(scores(selectFairly(all, [{ id: 'a', chunks: 3 }, { id: 'b' }], 1))).toEqual([9, 8, 7]);
  });

  it('is ordered, respects the total and own counts, and leaves no place unused', () => {
    const sources = [{ id: 'a' }, { id: 'b' }, { id: 'c', chunks: 2 }];
    const some = fc.array(fc.record({ sourceId: fc.constantFrom('a', 'b', 'c'), score: fc.integer() }), { maxLength: 30 });
    fc.assert(
      fc.property(some, fc.integer({ min: 0, max: 20 }), (candidates, total) => {
        const chosen = selectFairly(candidates, sources, total);
        const ofC = (list: readonly { sourceId: string }[]) => list.filter(({ sourceId }) => sourceId === 'c').length;
        expect(scores(chosen)).toEqual(scores(chosen).sort((x, y) => y - x));
        expect(ofC(chosen)).toBe(Math.min(2, ofC(candidates)));
        const others = candidates.length - ofC(candidates);
        expect(chosen.length - ofC(chosen)).toBe(Math.min(Math.max(0, total - ofC(chosen)), others));
      }),
    );
  });
});
