import type { FollowUpState } from '../follow-ups/follow-ups.port.js';
import type { JobRecord } from '../../../projections/jobs/jobs.queries.js';
import { deliveryOf, noteOn } from './job.policy.js';

/** A job as its owner sees it. `progress` and `output_tail` are empty if its tool reports no progress. */
export const jobSummary = (job: JobRecord, now: Date, followUp: FollowUpState | undefined) => ({
  job_id: job.jobId,
  conversation_id: job.conversationId,
  tool_name: job.toolName,
  action_name: job.actionName,
  status: job.status,
  status_message: noteOn(job.status, job.hasEffects, job.cancelRequested),
  progress: job.progress ?? {},
  output_tail: job.outputTail,
  elapsed_s: Math.max(0, Math.round(((job.finishedAt ?? now).getTime() - job.startedAt.getTime()) / 1000)),
  started_at: job.startedAt.toISOString(),
  finished_at: job.finishedAt?.toISOString() ?? null,
  delivery_state: deliveryOf(job.status, job.autoResume, job.reportedBy, followUp),
  auto_resume: job.autoResume,
  cancel_requested: job.cancelRequested,
});

/** A job with its result or error. `result` is undefined if no result is stored. */
export const jobDetail = (job: JobRecord, now: Date, followUp: FollowUpState | undefined, result: unknown) => ({
  ...jobSummary(job, now, followUp),
  result: result ?? null,
  error: job.error,
  artifacts: [],
  ...(job.status !== 'working' && { note: noteOn(job.status, job.hasEffects, job.cancelRequested) }),
});
