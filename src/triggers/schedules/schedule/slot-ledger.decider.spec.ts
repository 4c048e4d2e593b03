import { describe, expect, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import {
  at,
  by,
  created,
  ended,
  failed,
  hourly,
  iso,
  once,
  paused,
  queued,
  rules,
  runId,
  scheduleId,
  slot,
  succeeded,
} from '../../../../test/support/schedule-events.js';
import { requestRun } from './schedule-changes.decider.js';
import { schedule } from './schedule.decider.js';
import type { ScheduleEvent } from './schedule.events.js';
import { decideSlots, endRun, waitsUntil } from './slot-ledger.decider.js';

describe('a schedule whose slot is due', () => {
  const waiting = (past: readonly ScheduleEvent[], time: string) =>
    waitsUntil(past.reduce(schedule.evolve, schedule.initial), rules, at(time));

  it('that is late waits until it is missed or the next slot is due', () => {
    expect(waiting([created(hourly)], '08:59:59')).toBeUndefined();
    expect(waiting([created(hourly)], '09:02:00')).toEqual(at('09:10:00'));
    expect(waiting([created({ ...hourly, cron: '*/5 * * * *' })], '09:02:00')).toEqual(at('09:05:00'));
  });
  it('that is one-time waits only for a run that is in progress, until its time limit at the latest', () => {
    const requested: ScheduleEvent = {
      type: 'ScheduleRunRequested',
      data: { scheduleId, runId: 'r1', requestedAt: iso('08:50:00') },
    };
    expect(waiting([created(once)], '09:02:00')).toBeUndefined();
    expect(waiting([created(once), requested], '09:02:00')).toEqual(at('09:02:05'));
    expect(waiting([created(once), requested], '09:04:58')).toEqual(at('09:05:00'));
  });
});

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
    given(schedule, [created(hourly)]).when(decideSlots(rules, at('09:01:01'))).thenNothing(); // oxfmt-ignore
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
    given(schedule, [created(once), queued('09', null)]).when(end).then([ended(0, '09:01:00', succeeded), completed]); // oxfmt-ignore
    given(schedule, [created(once), queued('09', null), paused]).when(end).then([ended(0, '09:01:00', succeeded)]); // oxfmt-ignore
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
    given(schedule, [created(hourly), queued('09', '10'), ended(1, '09:05:00')]).when(end).thenNothing(); // oxfmt-ignore
    const gone: ScheduleEvent = { type: 'ScheduleDeleted', data: { scheduleId, deletedAt: iso('09:02:00') } };
    given(schedule, [created(hourly), queued('09', '10'), gone]).when(end).thenNothing(); // oxfmt-ignore
  });
  it('can be requested in addition to the slots, but not while another is in progress', () => {
    given(schedule, [created(hourly)])
      .when(requestRun(by('08:45:00'), 'r1'))
      .then([{ type: 'ScheduleRunRequested', data: { scheduleId, runId: 'r1', requestedAt: iso('08:45:00') } }]);
    given(schedule, [created(hourly), queued('09', '10')]).when(requestRun(by('09:01:00'), 'r1')).thenRejected('schedule-run-in-flight'); // oxfmt-ignore
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
