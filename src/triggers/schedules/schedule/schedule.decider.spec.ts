import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  at,
  created,
  definition,
  failed,
  hourly,
  once,
  origin,
  rules,
  scheduleId,
} from '../../../../test/support/schedule-events.js';
import { type Asked, cancel, cancelTask, change, pause, requestRun, resume } from './schedule-changes.decider.js';
import { create, type Schedule, schedule } from './schedule.decider.js';
import type { ScheduleEvent } from './schedule.events.js';
import { decideSlots, endRun } from './slot-ledger.decider.js';

it('a schedule is created once', () => {
  const wanted = { ownerId: 'ann', origin, definition: definition(hourly), now: at('08:30:00') };
  given(schedule, [])
    .when(create(scheduleId, wanted))
    .then([created(hourly)]);
  given(schedule, [created(hourly)])
    .when(create(scheduleId, wanted))
    .thenNothing();
});

it('repeating a decision changes nothing, and no slot is decided twice', () => {
  const minute = fc.integer({ min: 0, max: 48 * 60 });
  const asked = minute.map((minutes): Asked => ({
    ownerId: 'ann',
    rules,
    now: new Date(at('08:30:00').getTime() + minutes * 60_000),
  }));
  const other = fc.constantFrom(
    hourly,
    once,
    { ...hourly, cron: '*/20 * * * *' },
    { ...hourly, endAt: '2026-01-01T20:00:00.000Z' },
  );
  type Step = Readonly<{ decide: (state: Schedule) => readonly ScheduleEvent[]; repeats: boolean }>;
  const step = (decide: Step['decide'], repeats = true): Step => ({ decide, repeats });
  const steps = fc.oneof(
    asked.map(({ now }) => step(decideSlots(rules, now))),
    asked.map((each) => step(pause(each))),
    asked.map((each) => step(resume(each))),
    asked.map((each) => step(cancel(each))),
    asked.map((each) => step(cancelTask(each, { agentId: 'a1', conversationId: 'c1' }))),
    fc.tuple(asked, other).map(([each, timing]) => step(change(each, () => ({ timing })))),
    asked.map((each) => step(requestRun(each, 'manual'))),
    asked.map(({ now }) => step((state) => endRun(state.openRun?.runId ?? '', failed, rules, now)(state), false)),
  );
  fc.assert(
    fc.property(other, fc.array(steps, { maxLength: 30 }), (timing, chosen) => {
      const slots: string[] = [];
      let state = create(scheduleId, { ownerId: 'ann', origin, definition: definition(timing), now: at('08:30:00') })(
        schedule.initial,
      ).reduce(schedule.evolve, schedule.initial);
      for (const { decide, repeats } of chosen) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        slots.push(...events.flatMap(({ data }) => ('slot' in data ? [data.slot] : [])));
        state = events.reduce(schedule.evolve, state);
        if (repeats) expect(decide(state)).toEqual([]);
      }
      expect(slots).toEqual([...new Set(slots)].sort());
    }),
    { numRuns: 300 },
  );
});
