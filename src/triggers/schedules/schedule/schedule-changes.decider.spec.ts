import { describe, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import {
  by,
  completedAt,
  created,
  ended,
  hourly,
  iso,
  once,
  paused,
  queued,
  runId,
  scheduleId,
  slot,
  succeeded,
} from '../../../../test/support/schedule-events.js';
import { cancel, cancelTask, change, pause, remove, requestRun, resume } from './schedule-changes.decider.js';
import { schedule } from './schedule.decider.js';
import type { ScheduleCreated, ScheduleEvent } from './schedule.events.js';

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
    given(schedule, past).when(resume(by('10:00:00'), () => ({ ...once, runAt: iso('09:30:00') }))).thenRejected('schedule-elapsed'); // oxfmt-ignore
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
  it('gets no slots from before the last change of the timing, even if the local clock is behind', () => {
    const timing = { ...hourly, cron: '30 * * * *' };
    const data = { scheduleId, changes: { timing }, changedAt: iso('10:10:00'), nextSlotAt: iso('10:30:00') };
    given(schedule, [created(hourly), { type: 'ScheduleChanged', data }])
      .when(change(by('09:40:00'), () => ({ timing: hourly })))
      .then([
        {
          type: 'ScheduleChanged',
          data: { scheduleId, changes: { timing: hourly }, changedAt: iso('09:40:00'), nextSlotAt: iso('11:00:00') },
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
  it('cannot change the timing of a schedule that has ended, because it would still not run, but can rename it', () => {
    const over = [created(hourly), completedAt('08:40:00')];
    given(schedule, over)
      .when(change(by('08:50:00'), () => ({ timing: { ...hourly, endAt: iso('23:00:00') } })))
      .thenRejected('schedule-terminal');
    const data = { scheduleId, changes: { name: 'Look up' }, changedAt: iso('08:50:00'), nextSlotAt: null };
    given(schedule, over)
      .when(change(by('08:50:00'), () => ({ timing: hourly, name: 'Look up' })))
      .then([{ type: 'ScheduleChanged', data }]);
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
