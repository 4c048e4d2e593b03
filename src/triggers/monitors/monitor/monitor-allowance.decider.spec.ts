import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import {
  ADMISSION_MS,
  admit,
  admitToUnusedPlace,
  type MonitorAllowance,
  monitorAllowance,
  release,
} from './monitor-allowance.decider.js';
import type { MonitorAllowanceEvent } from './monitor-allowance.events.js';

const ownerId = 'ann';
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (afterMs: number) => new Date(start + afterMs);
const admitted = (monitorId: string, afterMs = 0): MonitorAllowanceEvent => ({
  type: 'MonitorAdmitted',
  data: { ownerId, monitorId, admittedAt: at(afterMs).toISOString() },
});
const known = (live: readonly string[], over: readonly string[] = []) => ({ live: new Set(live), over: new Set(over) });
const place = (monitorId: string, afterMs: number, max = 2) => ({ ownerId, monitorId, now: at(afterMs), max });

it('a user gets places for monitors up to the maximum', () => {
  const past = [admitted('m1'), admitted('m2')];
  given(monitorAllowance, past).when(admit(place('m3', 2 * ADMISSION_MS), known(['m1', 'm2']))).thenRejected('too-many-monitors'); // oxfmt-ignore
  given(monitorAllowance, past)
    .when(admit(place('m2', 5), known([])))
    .thenNothing();
  given(monitorAllowance, []).when(admit(place('m1', 0, 0), known([]))).thenRejected('too-many-monitors'); // oxfmt-ignore
});

it('a place that was never taken is reserved without a look at the monitors that exist, and no other is', () => {
  given(monitorAllowance, [admitted('m1')])
    .when(admitToUnusedPlace(place('m2', 5)))
    .then([admitted('m2', 5)]);
  for (const id of ['m2', 'm3']) {
    given(monitorAllowance, [admitted('m1'), admitted('m2')])
      .when(admitToUnusedPlace(place(id, 2 * ADMISSION_MS)))
      .thenNothing();
  }
});

it('the place of a monitor that is not listed yet is kept for ADMISSION_MS', () => {
  const past = [admitted('m1'), admitted('m2')];
  given(monitorAllowance, past)
    .when(admit(place('m3', ADMISSION_MS - 1), known(['m1'])))
    .thenRejected('too-many-monitors');
  given(monitorAllowance, past)
    .when(admit(place('m3', ADMISSION_MS), known(['m1'])))
    .then([{ type: 'MonitorReleased', data: { ownerId, monitorId: 'm2' } }, admitted('m3', ADMISSION_MS)]);
});

it('the place of a monitor that has ended is available at once', () =>
  given(monitorAllowance, [admitted('m1'), admitted('m2')])
    .when(admit(place('m3', 5), known(['m1'], ['m2'])))
    .then([{ type: 'MonitorReleased', data: { ownerId, monitorId: 'm2' } }, admitted('m3', 5)]));

it('a user never has more places than the maximum, and repeating a decision changes nothing', () => {
  const id = fc.constantFrom('m1', 'm2', 'm3', 'm4');
  const decision = fc.oneof(
    fc.tuple(id, fc.nat(5 * ADMISSION_MS), fc.uniqueArray(id)).map(([each, ms, live]) => admit(place(each, ms), known(live))),
    id.map((each) => release(ownerId, each)),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 20 }), (decisions) => {
      let state: MonitorAllowance = monitorAllowance.initial;
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(monitorAllowance.evolve, state);
        expect(decide(state)).toEqual([]);
        expect(Object.keys(state).length).toBeLessThanOrEqual(2);
      }
    }),
  );
});
