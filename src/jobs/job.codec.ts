import type { Codec } from '../kernel/codec.js';
import type { JobEvent } from './job.events.js';

export const jobCodec: Codec<JobEvent> = {
  JobStarted: [],
  JobCancelRequested: [],
  JobCompleted: [],
  JobFailed: [],
  JobCancelled: [],
  JobLost: [],
  JobTold: [],
  JobForgotten: [],
};
