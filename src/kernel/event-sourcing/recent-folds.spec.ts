import { expect, it } from '@jest/globals';
import { range } from '../../../test/contracts/event-store.subject.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { RECENT_FOLD_MS, RECENT_FOLDS_CHARACTERS_MAX, RECENT_FOLDS_MAX, RecentFolds } from './recent-folds.js';

const aggregate = {};
const folded = (revision: number, characters = 0) => ({ state: revision, revision, position: BigInt(revision), characters });

it('keeps the given number of most recent streams', () => {
  const folds = new RecentFolds(new VirtualTiming());
  for (let n = 0; n <= RECENT_FOLDS_MAX; n++) folds.remember(`counter-${n}`, aggregate, folded(n));
  expect(folds.of('counter-0', aggregate)).toBeUndefined();
  expect(folds.of(`counter-${RECENT_FOLDS_MAX}`, aggregate)).toEqual(folded(RECENT_FOLDS_MAX));
});

it('keeps large states only as far as they fit together', () => {
  const folds = new RecentFolds(new VirtualTiming());
  for (let n = 0; n < 5; n++) folds.remember(`counter-${n}`, aggregate, folded(n, RECENT_FOLDS_CHARACTERS_MAX / 4));
  expect(range(0, 4).filter((n) => folds.of(`counter-${n}`, aggregate))).toEqual([2, 3, 4]);
  folds.remember('counter-4', aggregate, folded(5, RECENT_FOLDS_CHARACTERS_MAX));
  expect(folds.of('counter-4', aggregate)).toBeUndefined();
});

it('drops a stream after a quiet period and does not return it for another aggregate', async () => {
  const timing = new VirtualTiming();
  const folds = new RecentFolds(timing);
  // The cache treats a time of 0 as no time.
  await timing.pause(1);
  folds.remember('counter-1', aggregate, folded(1));
  expect(folds.of('counter-1', {})).toBeUndefined();
  await timing.pause(RECENT_FOLD_MS - 1);
  expect(folds.of('counter-1', aggregate)).toEqual(folded(1));
  await timing.pause(2);
  expect(folds.of('counter-1', aggregate)).toBeUndefined();
});

it('keeps the state of a later revision when a read of an earlier one ends', () => {
  const folds = new RecentFolds(new VirtualTiming());
  for (const revision of [1, 3, 2]) folds.remember('counter-1', aggregate, folded(revision));
  expect(folds.of('counter-1', aggregate)).toEqual(folded(3));
});
