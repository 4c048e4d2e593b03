import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import { continuations, dropContinuation } from './continuation.decider.js';
import type { ContinuationEvent } from './continuation.events.js';

const dropped = (sha256: string): ContinuationEvent => ({ type: 'ContinuationDropped', data: { turnId: 't1', sha256 } });

it('each continuation of a turn is recorded as dropped once', () => {
  given(continuations, [])
    .when(dropContinuation('t1', 'a'))
    .then([dropped('a')]);
  given(continuations, [dropped('a')])
    .when(dropContinuation('t1', 'b'))
    .then([dropped('b')]);
  given(continuations, [dropped('a'), dropped('b')])
    .when(dropContinuation('t1', 'a'))
    .thenNothing();
});

it('no continuation is recorded twice, in any order of requests', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }), (asked) => {
      let state = continuations.initial;
      let said = 0;
      for (const sha256 of asked) {
        const events = dropContinuation('t1', sha256)(state);
        state = events.reduce(continuations.evolve, state);
        expect(dropContinuation('t1', sha256)(state)).toEqual([]);
        said += events.length;
      }
      expect(said).toBe(new Set(asked).size);
    }),
  );
});
