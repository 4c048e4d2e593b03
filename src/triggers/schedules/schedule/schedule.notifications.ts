import { type Notification, notificationRule } from '../../../kernel/event-sourcing/notifications.js';
import { scheduleCodec } from './schedule.codec.js';
import type { ScheduleCreated, ScheduleEvent } from './schedule.events.js';

type About<Type extends string, Payload extends object> = Notification<Type, 'schedule', Payload>;

type ScheduledRun = { run_id: string; schedule_id: string; agent_id: string | null; trigger_type: 'once' | 'recurring' };

export type ScheduleNotification =
  | About<'schedule.run.completed', ScheduledRun & { status: 'success' }>
  | About<'schedule.run.failed', ScheduledRun & { status: 'failed' | 'timeout'; error_type?: string }>
  | About<'schedule.autopaused', ScheduledRun & { status: 'paused'; consecutive_failure_count: number }>
  | About<'schedule.created', { schedule_id: string; status: 'active' }>
  | About<'schedule.changed' | 'schedule.deleted', { schedule_id: string }>
  | About<'schedule.paused', { schedule_id: string; status: 'paused' }>
  | About<'schedule.resumed', { schedule_id: string; status: 'active' }>
  | About<'schedule.completed', { schedule_id: string; status: 'completed' }>
  | About<'schedule.cancelled', { schedule_id: string; status: 'cancelled' }>;

/** Slots without a run cause no notification, because clients see them in the list of runs. */
const NOTIFIED = [
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

type NotifiedEvent = Extract<ScheduleEvent, { type: (typeof NOTIFIED)[number] }>;

/** The notification for the owner; `created` holds the agent and the kind of the schedule. */
function scheduleNotification({ type, data }: NotifiedEvent, created: ScheduleCreated['data']): ScheduleNotification {
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

export const scheduleNotifications = [
  notificationRule({
    category: 'schedule',
    codec: scheduleCodec,
    about: NOTIFIED,
    initial: undefined,
    evolve: (created: ScheduleCreated['data'] | undefined, { type, data }: ScheduleEvent) =>
      type === 'ScheduleCreated' ? data : created,
    foldedMax: 1,
    ownerOf: (created) => created?.ownerId,
    noticesOf: (event, _, created) => (created ? [{ notification: scheduleNotification(event, created) }] : []),
  }),
];
