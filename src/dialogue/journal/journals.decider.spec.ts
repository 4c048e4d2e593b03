import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../test/support/given.js';
import { expireJournals, journals } from './journals.decider.js';
import { hourOf, type JournalsEvent, journalsStream } from './journals.events.js';

const sealedIn = '2026-01-01T05';
const now = new Date('2026-01-15T06:00:00.000Z');
const expired = (...turnIds: string[]): JournalsEvent => ({
  type: 'JournalsExpired',
  data: { sealedIn, turnIds, expiredAt: now.toISOString() },
});

describe('the journals of an hour', () => {
  it('expire once each', () => {
    given(journals, [])
      .when(expireJournals(sealedIn, ['a', 'b', 'a'], now))
      .then([expired('a', 'b')]);
    given(journals, [expired('a')])
      .when(expireJournals(sealedIn, ['a', 'b'], now))
      .then([expired('b')]);
    given(journals, [expired('a'), expired('b')])
      .when(expireJournals(sealedIn, ['b', 'a'], now))
      .thenNothing();
    given(journals, [])
      .when(expireJournals(sealedIn, [], now))
      .thenNothing();
  });

  it('are the ones that were sealed within that hour', () => {
    expect(hourOf(new Date('2026-01-01T05:59:59.999Z'))).toBe(sealedIn);
    expect(journalsStream(sealedIn)).toBe('journals-2026-01-01T05');
  });
});

it('for any batches of journals, each journal expires once', () => {
  const batches = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 5 }), { maxLength: 8 });
  fc.assert(
    fc.property(batches, (asked) => {
      let state = journals.initial;
      const told: string[] = [];
      for (const turnIds of asked) {
        const events = expireJournals(sealedIn, turnIds, now)(state);
        state = events.reduce(journals.evolve, state);
        expect(expireJournals(sealedIn, turnIds, now)(state)).toEqual([]);
        told.push(...events.flatMap(({ data }) => data.turnIds));
      }
      expect(new Set(told).size).toBe(told.length);
      expect(new Set(told)).toEqual(new Set(asked.flat()));
    }),
  );
});
