import type { ScheduleCreated, ScheduleEvent } from '../../triggers/schedules/schedule/schedule.events.js';
import type { Notification } from './user.events.js';

/** What is told of schedules. What becomes of a slot without a run is seen by whoever looks at the schedule. */
export const SCHEDULE_EVENTS = [
  'ScheduleCreated',
  'ScheduleChanged',
  'SchedulePaused',
  'ScheduleAutoPaused',
  'ScheduleResumed',
  'ScheduleCompleted',
  'ScheduleCancelled',
  'ScheduleDeleted',
  'ScheduleRunEnded',
] as const satisfies readonly ScheduleEvent['type'][];

export type NotifiedScheduleEvent = Extract<ScheduleEvent, { type: (typeof SCHEDULE_EVENTS)[number] }>;

/** What a schedule's owner is told of it; `created` says what kind of schedule it is. */
export function scheduleNotification({ type, data }: NotifiedScheduleEvent, created: ScheduleCreated['data']): Notification {
  const { scheduleId: schedule_id } = data;
  const scope = { kind: 'schedule', id: schedule_id } as const;
  const about = { schedule_id, agent_id: created.origin.agentId, trigger_type: created.definition.timing.kind };
  switch (type) {
    case 'ScheduleRunEnded': {
      const { runId: run_id, status, errorType: error_type } = data;
      if (status === 'success') return { type: 'schedule.run.completed', scope, payload: { run_id, ...about, status } };
      return { type: 'schedule.run.failed', scope, payload: { run_id, ...about, status, ...(error_type && { error_type }) } };
    }
    case 'ScheduleAutoPaused': {
      const { runId: run_id, failuresInARow: consecutive_failure_count } = data;
      return { type: 'schedule.autopaused', scope, payload: { run_id, ...about, status: 'paused', consecutive_failure_count } };
    }
    case 'ScheduleCreated':
      return { type: 'schedule.created', scope, payload: { schedule_id, status: 'active' } };
    case 'ScheduleChanged':
      return { type: 'schedule.changed', scope, payload: { schedule_id } };
    case 'SchedulePaused':
      return { type: 'schedule.paused', scope, payload: { schedule_id, status: 'paused' } };
    case 'ScheduleResumed':
      return { type: 'schedule.resumed', scope, payload: { schedule_id, status: 'active' } };
    case 'ScheduleCompleted':
      return { type: 'schedule.completed', scope, payload: { schedule_id, status: 'completed' } };
    case 'ScheduleCancelled':
      return { type: 'schedule.cancelled', scope, payload: { schedule_id, status: 'cancelled' } };
    case 'ScheduleDeleted':
      return { type: 'schedule.deleted', scope, payload: { schedule_id } };
  }
}
