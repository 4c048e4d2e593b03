import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import { ADMISSION_MS, admit, admitToUnusedPlace, type Allowance, allowance, release } from './allowance.decider.js';
import type { AllowanceEvent } from './allowance.events.js';

const ownerId = 'ann';
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (afterMs: number) => new Date(start + afterMs);
const admitted = (scheduleId: string, afterMs = 0): AllowanceEvent => ({
  type: 'ScheduleAdmitted',
  data: { ownerId, scheduleId, admittedAt: at(afterMs).toISOString() },
});
const place = (scheduleId: string, afterMs: number, max = 2) => ({ ownerId, scheduleId, now: at(afterMs), max });

it('a user gets places for schedules up to the maximum', () => {
  const past = [admitted('s1'), admitted('s2')];
  given(allowance, past).when(admit(place('s3', 2 * ADMISSION_MS), new Set(['s1', 's2']))).thenRejected('too-many-schedules'); // oxfmt-ignore
  given(allowance, past)
    .when(admit(place('s2', 5), new Set()))
    .thenNothing();
});

it('a place that was never taken is reserved without a look at the schedules that exist, and no other is', () => {
  given(allowance, [admitted('s1')])
    .when(admitToUnusedPlace(place('s2', 5)))
    .then([admitted('s2', 5)]);
  for (const id of ['s2', 's3']) {
    given(allowance, [admitted('s1'), admitted('s2')])
      .when(admitToUnusedPlace(place(id, 2 * ADMISSION_MS)))
      .thenNothing();
  }
});

it('the place of a schedule that is not listed yet is kept for ADMISSION_MS', () => {
  const past = [admitted('s1'), admitted('s2')];
  given(allowance, past)
    .when(admit(place('s3', ADMISSION_MS - 1), new Set(['s1'])))
    .thenRejected('too-many-schedules');
  given(allowance, past)
    .when(admit(place('s3', ADMISSION_MS), new Set(['s1'])))
    .then([{ type: 'ScheduleReleased', data: { ownerId, scheduleId: 's2' } }, admitted('s3', ADMISSION_MS)]);
});

it('the place of a refused schedule is released at once', () =>
  given(allowance, [admitted('s1')])
    .when(release(ownerId, 's1'))
    .then([{ type: 'ScheduleReleased', data: { ownerId, scheduleId: 's1' } }]));

it('a user never has more places than the maximum, and repeating a decision changes nothing', () => {
  const id = fc.constantFrom('s1', 's2', 's3', 's4');
  const decision = fc.oneof(
    fc.tuple(id, fc.nat(5 * ADMISSION_MS), fc.uniqueArray(id)).map(([each, ms, open]) => admit(place(each, ms), new Set(open))),
    id.map((each) => release(ownerId, each)),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 20 }), (decisions) => {
      let state: Allowance = allowance.initial;
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(allowance.evolve, state);
        expect(decide(state)).toEqual([]);
        expect(Object.keys(state).length).toBeLessThanOrEqual(2);
      }
    }),
  );
});
