import type { JobEnd, JobEvent, JobStarted } from '../../background/jobs/job.events.js';
import { statusAfter } from '../../background/jobs/job.policy.js';
import type { Notification } from './user.events.js';

/** What is told of jobs: that they have begun, and that they are over. */
export const JOB_EVENTS = [
  'JobStarted',
  'JobCompleted',
  'JobFailed',
  'JobCancelled',
  'JobLost',
] as const satisfies readonly JobEvent['type'][];

export type NotifiedJobEvent = JobStarted | JobEnd;

/** What the owner of a job's conversation is told of it; `started` says what kind of job it is. */
export function jobNotification(event: NotifiedJobEvent, { toolName, actionName }: JobStarted['data']): Notification {
  const { jobId: job_id, conversationId: conversation_id } = event.data;
  const status = statusAfter(event.type === 'JobStarted' ? null : event);
  const tool = { tool_name: toolName, action_name: actionName };
  return {
    type: 'job.updated',
    scope: { kind: 'conversation', id: conversation_id },
    payload: { job_id, conversation_id, status, progress: {}, ...tool },
  };
}
