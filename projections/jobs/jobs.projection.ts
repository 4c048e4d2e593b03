import { jobCodec } from '../../src/background/jobs/job.codec.js';
import type { JobEvent } from '../../src/background/jobs/job.events.js';
import { changeIn, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** The state of the jobs of conversations. A job is a tool call that continues while its turn does not wait for it. */
export const jobs = defineProjection<JobEvent>({
  name: 'jobs',
  categories: ['job'],
  codec: jobCodec,
  ddl: new URL('./jobs.sql', import.meta.url),
  indexesLast: true,

  on: {
    JobStarted: ({ data }) =>
      insertInto('job', {
        job_id: data.jobId,
        owner_id: data.ownerId,
        conversation_id: data.conversationId,
        turn_id: data.turnId,
        call_id: asText(data.callId),
        agent_id: data.agentId,
        tool_name: asText(data.toolName),
        action_name: asText(data.actionName),
        has_effects: data.hasEffects,
        auto_resume: data.autoResume,
        status: 'working',
        started_at: data.begunAt,
        deadline_at: data.deadlineAt,
      }),

    JobProgressed: ({ data: { jobId, report, outputTail } }) =>
      changeIn(
        'job',
        { job_id: jobId },
        { progress: asJsonb(report), output_tail: outputTail === null ? null : asText(outputTail) },
      ),

    JobCancelRequested: ({ data }) => changeIn('job', { job_id: data.jobId }, { cancel_requested: true }),

    JobCompleted: ({ data }) =>
      changeIn('job', { job_id: data.jobId }, { status: 'completed', finished_at: data.endedAt, result: data.result }),

    JobFailed: ({ data }) =>
      changeIn(
        'job',
        { job_id: data.jobId },
        { status: 'failed', finished_at: data.endedAt, error: asText(data.error), error_type: data.reason },
      ),

    JobCancelled: ({ data }) => changeIn('job', { job_id: data.jobId }, { status: 'cancelled', finished_at: data.endedAt }),

    JobLost: ({ data }) => changeIn('job', { job_id: data.jobId }, { status: 'lost', finished_at: data.endedAt }),

    JobReported: ({ data }) => changeIn('job', { job_id: data.jobId }, { reported_by: data.by }),

    JobPurged: ({ data }) => removeFrom('job', { job_id: data.jobId }),
  },
});
