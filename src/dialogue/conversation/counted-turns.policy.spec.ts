import { expect, it } from '@jest/globals';
import { afterLeaving } from './counted-turns.policy.js';

const turns = (...all: readonly [id: string, index: number, superseded?: boolean][]) =>
  new Map(all.map(([id, index, superseded = false]) => [id, { index, superseded, says: id }]));
const withdrawn = (turnId: string) => ({ type: 'TurnWithdrawn', data: { conversationId: 'c', turnId } }) as const;

it('moves those up that count and follow a withdrawn turn', () => {
  const before = turns(['a', 0], ['old', 1, true], ['b', 1], ['c', 2], ['later', 3, true], ['d', 3]);
  expect(afterLeaving(before, withdrawn('b'))).toEqual(
    turns(['a', 0], ['old', 1, true], ['b', 1, true], ['c', 1], ['later', 3, true], ['d', 2]),
  );
});

it('moves none where the withdrawn turn is not known', () => {
  const before = turns(['a', 0], ['b', 1]);
  expect(afterLeaving(before, withdrawn('x'))).toEqual(before);
});

it('leaves superseded turns where they were, and those before them', () => {
  const data = { conversationId: 'c', fromIndex: 1, turnIds: ['b', 'c'] };
  expect(afterLeaving(turns(['a', 0], ['b', 1], ['c', 2]), { type: 'TurnsSuperseded', data })).toEqual(
    turns(['a', 0], ['b', 1, true], ['c', 2, true]),
  );
});
