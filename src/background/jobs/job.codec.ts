import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { JobEvent } from './job.events.js';

export const jobCodec: Codec<JobEvent> = {
  JobStarted: [],
  JobProgressed: [],
  JobCancelRequested: [],
  JobCompleted: [],
  JobFailed: [],
  JobCancelled: [],
  JobLost: [],
  JobReported: [],
  JobPurged: [],
};
