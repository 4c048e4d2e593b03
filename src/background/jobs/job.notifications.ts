import { type Notification, notificationRule } from '../../kernel/event-sourcing/notifications.js';
import { jobCodec } from './job.codec.js';
import type { JobEnd, JobEvent, JobStarted } from './job.events.js';
import { type JobStatus, statusAfter } from './job.policy.js';

export type JobNotification = Notification<
  'job.updated',
  'conversation',
  {
    job_id: string;
    conversation_id: string;
    status: JobStatus;
    progress: Readonly<Record<string, never>>;
    tool_name: string;
    action_name: string;
  }
>;

/** The notification of a job for the owner of its conversation. The second argument is the data of the job's `JobStarted`. */
function jobNotification(event: JobStarted | JobEnd, { toolName, actionName }: JobStarted['data']): JobNotification {
  const { jobId: job_id, conversationId: conversation_id } = event.data;
  const status = statusAfter(event.type === 'JobStarted' ? null : event);
  const tool = { tool_name: toolName, action_name: actionName };
  return {
    type: 'job.updated',
    scope: { kind: 'conversation', id: conversation_id },
    payload: { job_id, conversation_id, status, progress: {}, ...tool },
  };
}

/** Notifies users when their jobs begin and end. */
export const jobNotifications = [
  notificationRule({
    category: 'job',
    codec: jobCodec,
    about: ['JobStarted', 'JobCompleted', 'JobFailed', 'JobCancelled', 'JobLost'],
    initial: undefined,
    evolve: (started: JobStarted['data'] | undefined, { type, data }: JobEvent) => (type === 'JobStarted' ? data : started),
    foldedMax: 1,
    ownerOf: (started) => started?.ownerId,
    noticesOf: (event, _, started) => (started ? [{ notification: jobNotification(event, started) }] : []),
  }),
];
