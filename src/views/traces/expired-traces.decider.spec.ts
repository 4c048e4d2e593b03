import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../test/support/given.js';
import { expiredTraces, expireTraces } from './expired-traces.decider.js';
import type { TracesExpired } from './expired-traces.events.js';

const now = new Date('2026-03-01T00:00:00.000Z');
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
const expired = (minute: number): TracesExpired => ({
  type: 'TracesExpired',
  data: { before: at(minute).toISOString(), expiredAt: now.toISOString() },
});

it('traces expire once up to a time, also if another process has expired later ones', () => {
  given(expiredTraces, [])
    .when(expireTraces(at(1), now))
    .then([expired(1)]);
  given(expiredTraces, [expired(1)])
    .when(expireTraces(at(2), now))
    .then([expired(2)]);
  for (const minute of [1, 2])
    given(expiredTraces, [expired(2)])
      .when(expireTraces(at(minute), now))
      .thenNothing();
});

it('for any times, each event expires more than the one before', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 12 }), (minutes) => {
      const events: TracesExpired[] = [];
      for (const minute of minutes) {
        const state = events.reduce((folded, event) => expiredTraces.evolve(folded, event), expiredTraces.initial);
        events.push(...expireTraces(at(minute), now)(state));
      }
      const befores = events.map(({ data }) => data.before);
      expect(befores).toEqual([...new Set(befores)].toSorted());
      expect(befores.at(-1)).toBe(minutes.length === 0 ? undefined : at(Math.max(...minutes)).toISOString());
    }),
  );
});
