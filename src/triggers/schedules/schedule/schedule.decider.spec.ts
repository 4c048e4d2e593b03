import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import {
  at,
  by,
  completedAt,
  created,
  definition,
  ended,
  failed,
  hourly,
  iso,
  once,
  origin,
  paused,
  queued,
  rules,
  runId,
  scheduleId,
  slot,
  succeeded,
} from '../../../../test/support/schedule-events.js';
import { type Asked, cancel, cancelTask, change, pause, remove, requestRun, resume } from './schedule-changes.decider.js';
import { create, schedule, type Schedule } from './schedule.decider.js';
import type { ScheduleCreated, ScheduleEvent } from './schedule.events.js';
import { decideSlots, endRun } from './slot-ledger.decider.js';

describe('a slot', () => {
  it('becomes a run when it is due', () =>
    given(schedule, [created(hourly)])
      .when(decideSlots(rules, at('09:00:01')))
      .then([queued('09', '10', '09:00:01')]));
  it('is not decided before it is due', () =>
    given(schedule, [created(hourly)])
      .when(decideSlots(rules, at('08:59:59')))
      .thenNothing());
  it('is not decided twice by a process whose clock is behind', () =>
    given(schedule, [created(hourly), queued('09', '10')])
      .when(decideSlots(rules, at('08:59:00')))
      .thenNothing());
  it('is skipped while an earlier run has not ended', () =>
    given(schedule, [created(hourly), queued('09', '10', '09:59:00')])
      .when(decideSlots(rules, at('10:00:00')))
      .then([{ type: 'ScheduleSlotSkipped', data: { ...slot('10', '11'), reason: 'overlap' } }]));
  it('that is late is left undecided and then recorded as missed', () => {
    given(schedule, [created(hourly)]).when(decideSlots(rules, at('09:01:01'))).thenNothing(); // prettier-ignore
    given(schedule, [created(hourly)])
      .when(decideSlots(rules, at('09:10:00')))
      .then([{ type: 'ScheduleMissed', data: slot('09', '10') }]);
  });
  it('of a paused recurring schedule is not decided before the pause ends', () =>
    given(schedule, [created(hourly), paused])
      .when(decideSlots(rules, at('15:00:00')))
      .thenNothing());
  it('of a paused one-time schedule is recorded as paused', () =>
    given(schedule, [created(once), paused])
      .when(decideSlots(rules, at('09:00:00')))
      .then([{ type: 'ScheduleSlotPaused', data: slot('09', null) }]));
  it('of a one-time schedule runs however late it is', () =>
    given(schedule, [created(once)])
      .when(decideSlots(rules, at('15:00:00')))
      .then([queued('09', null, '15:00:00')]));
  it('at the end of a schedule is its last one', () =>
    given(schedule, [created({ ...hourly, endAt: iso('09:00:00') })])
      .when(decideSlots(rules, at('09:00:00')))
      .then([queued('09', null), { type: 'ScheduleCompleted', data: { scheduleId, completedAt: iso('09:00:00') } }]));
});

describe('a run', () => {
  it('times out if it does not end', () =>
    given(schedule, [created(hourly), queued('09', '10')])
      .when(decideSlots(rules, at('09:16:00')))
      .then([
        {
          type: 'ScheduleRunEnded',
          data: { scheduleId, runId, status: 'timeout', errorType: 'timeout', failuresInARow: 1, endedAt: iso('09:16:00') },
        },
      ]));
  it('pauses its schedule if it fails too often in a row, with the number of failures', () => {
    const twice = [created(hourly), queued('09', '10'), ended(2, '09:05:00'), queued('09', '10')];
    given(schedule, twice)
      .when(endRun(runId, failed, rules, at('09:06:00')))
      .then([
        ended(3, '09:06:00'),
        { type: 'ScheduleAutoPaused', data: { scheduleId, runId, failuresInARow: 3, pausedAt: iso('09:06:00') } },
      ]);
  });
  it('resets the number of failures if it succeeds', () =>
    given(schedule, [created(hourly), ended(2, '08:50:00'), queued('09', '10')])
      .when(endRun(runId, succeeded, rules, at('09:06:00')))
      .then([ended(0, '09:06:00', succeeded)]));
  it('fails if it exceeds the token budget, even if it succeeded otherwise', () => {
    const cheap: ScheduleEvent = {
      type: 'ScheduleChanged',
      data: { scheduleId, changes: { tokenBudget: 9 }, changedAt: iso('08:31:00'), nextSlotAt: iso('09:00:00') },
    };
    given(schedule, [created(hourly), cheap, queued('09', '10')])
      .when(endRun(runId, succeeded, rules, at('09:06:00')))
      .then([ended(1, '09:06:00', { status: 'failed', errorType: 'budget_exceeded' })]);
  });
  it('of a one-time schedule completes it, unless it was paused meanwhile', () => {
    const end = endRun(runId, succeeded, rules, at('09:01:00'));
    const completed: ScheduleEvent = { type: 'ScheduleCompleted', data: { scheduleId, completedAt: iso('09:01:00') } };
    given(schedule, [created(once), queued('09', null)]).when(end).then([ended(0, '09:01:00', succeeded), completed]); // prettier-ignore
    given(schedule, [created(once), queued('09', null), paused]).when(end).then([ended(0, '09:01:00', succeeded)]); // prettier-ignore
  });
  it('of a one-time schedule that was resumed with a new time leaves the new slot', () => {
    const timing = { ...once, runAt: iso('11:00:00') };
    const data = { scheduleId, resumedAt: iso('09:00:40'), timing, nextSlotAt: iso('11:00:00') };
    given(schedule, [created(once), queued('09', null), paused, { type: 'ScheduleResumed', data }])
      .when(endRun(runId, succeeded, rules, at('09:01:00')))
      .then([ended(0, '09:01:00', succeeded)]);
  });
  it('does not end twice or after its schedule was deleted', () => {
    const end = endRun(runId, failed, rules, at('09:10:00'));
    given(schedule, [created(hourly), queued('09', '10'), ended(1, '09:05:00')]).when(end).thenNothing(); // prettier-ignore
    const gone: ScheduleEvent = { type: 'ScheduleDeleted', data: { scheduleId, deletedAt: iso('09:02:00') } };
    given(schedule, [created(hourly), queued('09', '10'), gone]).when(end).thenNothing(); // prettier-ignore
  });
  it('can be requested in addition to the slots, but not while another is in progress', () => {
    given(schedule, [created(hourly)])
      .when(requestRun(by('08:45:00'), 'r1'))
      .then([{ type: 'ScheduleRunRequested', data: { scheduleId, runId: 'r1', requestedAt: iso('08:45:00') } }]);
    given(schedule, [created(hourly), queued('09', '10')]).when(requestRun(by('09:01:00'), 'r1')).thenRejected('schedule-run-in-flight'); // prettier-ignore
  });
  it('cannot be requested for a completed one-time schedule or a cancelled schedule', () => {
    const over: ScheduleEvent = { type: 'ScheduleCompleted', data: { scheduleId, completedAt: iso('09:01:00') } };
    const off: ScheduleEvent = { type: 'ScheduleCancelled', data: { scheduleId, cancelledAt: iso('09:01:00') } };
    given(schedule, [created(once), over])
      .when(requestRun(by('10:00:00'), 'r'))
      .thenRejected('schedule-terminal');
    given(schedule, [created(hourly), off])
      .when(requestRun(by('10:00:00'), 'r'))
      .thenRejected('schedule-cancelled');
  });
});

describe('an owner', () => {
  it('pauses later slots, but not a slot that is already due', () =>
    given(schedule, [created(hourly)])
      .when(pause(by('09:00:30')))
      .then([queued('09', '10', '09:00:30'), { type: 'SchedulePaused', data: { scheduleId, pausedAt: iso('09:00:30') } }]));
  it('resumes with the slots from now on', () =>
    given(schedule, [created(hourly), paused])
      .when(resume(by('10:30:00')))
      .then([
        {
          type: 'ScheduleSlotsPaused',
          data: { scheduleId, after: iso('08:30:00'), until: iso('10:30:00'), nextSlotAt: iso('11:00:00') },
        },
        { type: 'ScheduleResumed', data: { scheduleId, resumedAt: iso('10:30:00'), nextSlotAt: iso('11:00:00') } },
      ]));
  it('must give a new time to resume a one-time schedule that has elapsed', () => {
    const past = [created(once), paused];
    given(schedule, past)
      .when(resume(by('10:00:00')))
      .thenRejected('schedule-elapsed');
    given(schedule, past).when(resume(by('10:00:00'), () => ({ ...once, runAt: iso('09:30:00') }))).thenRejected('schedule-elapsed'); // prettier-ignore
    const timing = { ...once, runAt: iso('11:00:00') };
    given(schedule, past)
      .when(resume(by('10:00:00'), () => timing))
      .then([
        { type: 'ScheduleSlotPaused', data: slot('09', null) },
        { type: 'ScheduleResumed', data: { scheduleId, resumedAt: iso('10:00:00'), timing, nextSlotAt: iso('11:00:00') } },
      ]);
  });
  it('changes the timing after slots that are already due', () => {
    const timing = { ...hourly, cron: '30 * * * *' };
    given(schedule, [created(hourly)])
      .when(change(by('09:00:10'), () => ({ timing, name: 'Look' })))
      .then([
        queued('09', '10', '09:00:10'),
        {
          type: 'ScheduleChanged',
          data: { scheduleId, changes: { timing }, changedAt: iso('09:00:10'), nextSlotAt: iso('09:30:00') },
        },
      ]);
  });
  it('completes a schedule by setting an end before the next slot', () => {
    const timing = { ...hourly, endAt: iso('08:50:00') };
    const data = { scheduleId, changes: { timing }, changedAt: iso('08:40:00'), nextSlotAt: null };
    given(schedule, [created(hourly)])
      .when(change(by('08:40:00'), () => ({ timing })))
      .then([
        { type: 'ScheduleChanged', data },
        { type: 'ScheduleCompleted', data: { scheduleId, completedAt: iso('08:40:00') } },
      ]);
  });
  it('cannot move a one-time schedule that has started', () =>
    given(schedule, [created(once), queued('09', null)])
      .when(change(by('09:00:30'), () => ({ timing: { ...once, runAt: iso('10:00:00') } })))
      .thenRejected('schedule-run-started'));
  it('cannot move a one-time schedule to a time that is already decided, even if the local clock is behind', () =>
    given(schedule, [created(once)])
      .when(change(by('08:10:00'), () => ({ timing: { ...once, runAt: iso('08:20:00') } })))
      .thenRejected('invalid-schedule'));
  it('keeps the waiting slot of a one-time schedule when changing something other than the timing', () => {
    const requested: ScheduleEvent = { type: 'ScheduleRunRequested', data: { scheduleId, runId, requestedAt: iso('08:59:00') } };
    const data = { scheduleId, changes: { name: 'Look up' }, changedAt: iso('09:00:10'), nextSlotAt: iso('09:00:00') };
    given(schedule, [created(once), requested])
      .when(change(by('09:00:10'), () => ({ name: 'Look up' })))
      .then([{ type: 'ScheduleChanged', data }]);
  });
  it('keeps waiting slots when resuming a schedule that is not paused', () => {
    const requested: ScheduleEvent = { type: 'ScheduleRunRequested', data: { scheduleId, runId, requestedAt: iso('08:59:00') } };
    given(schedule, [created(once), requested])
      .when(resume(by('09:00:10')))
      .thenNothing();
    given(schedule, [created(hourly)])
      .when(resume(by('09:01:01')))
      .thenNothing();
  });
  it('cancels a slot that is just due together with the schedule', () =>
    given(schedule, [created(hourly)])
      .when(cancel(by('09:00:10')))
      .then([
        { type: 'ScheduleSlotSkipped', data: { ...slot('09', '10'), reason: 'cancelled' } },
        { type: 'ScheduleCancelled', data: { scheduleId, cancelledAt: iso('09:00:10') } },
      ]));
  describe('in a chat', () => {
    const chat = { agentId: 'a1', conversationId: 'c1' };
    const own = { agentId: null, conversationId: 'c1' };
    const task = (from: Readonly<{ agentId: string | null; conversationId: string | null }>): ScheduleEvent => {
      const event = created(once) as ScheduleCreated;
      return { ...event, data: { ...event.data, origin: { ...from, createdVia: 'chat' } } };
    };
    const cancelled: ScheduleEvent = { type: 'ScheduleCancelled', data: { scheduleId, cancelledAt: iso('08:40:00') } };
    it('cancels a task of any chat with the same agent', () =>
      given(schedule, [task({ ...chat, conversationId: 'c2' })])
        .when(cancelTask(by('08:40:00'), chat))
        .then([cancelled]));
    it('cancels a task of the same chat if there is no agent', () => {
      given(schedule, [task(own)])
        .when(cancelTask(by('08:40:00'), own))
        .then([cancelled]);
      given(schedule, [task(own), cancelled])
        .when(cancelTask(by('08:41:00'), own))
        .thenNothing();
    });
    it.each<[string, ScheduleEvent, typeof chat | typeof own]>([
      ['another chat without an agent', task({ ...own, conversationId: 'c2' }), own],
      ['a chat with an agent', task(chat), own],
      ['a chat without an agent', task(own), chat],
      ['a chat with another agent', task({ ...chat, agentId: 'a2' }), chat],
      ['a recurring schedule', created(hourly), chat],
    ])('does not find a task of %s', (_, event, scope) =>
      given(schedule, [event])
        .when(cancelTask(by('08:40:00'), scope))
        .thenRejected('schedule-not-found'),
    );
    it('cannot cancel a completed task', () =>
      given(schedule, [task(own), queued('09', null), ended(0, '09:01:00', succeeded), completedAt('09:01:00')])
        .when(cancelTask(by('09:02:00'), own))
        .thenRejected('schedule-terminal'));
  });
  it.each([
    ['paused', pause(by('08:40:00', 'bob'))],
    ['changed', change(by('08:40:00', 'bob'), () => ({ name: 'Mine' }))],
    ['deleted', remove(by('08:40:00', 'bob'))],
    ['run', requestRun(by('08:40:00', 'bob'), 'r')],
  ])('alone can have a schedule %s; other users get the error for an unknown schedule', (_, decide) =>
    given(schedule, [created(hourly)])
      .when(decide)
      .thenRejected('schedule-not-found'),
  );
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
        let events: readonly ScheduleEvent[];
        try {
          events = decide(state);
        } catch {
          continue;
        }
        slots.push(...events.flatMap(({ data }) => ('slot' in data ? [data.slot] : [])));
        state = events.reduce(schedule.evolve, state);
        if (repeats) expect(decide(state)).toEqual([]);
      }
      expect(slots).toEqual([...new Set(slots)].sort());
    }),
    { numRuns: 300 },
  );
});
