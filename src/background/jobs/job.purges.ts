import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { jobCodec } from './job.codec.js';
import type { JobForgotten } from './job.events.js';

export const jobPurges = [purgeOf<JobForgotten>({ category: 'job', codec: jobCodec, type: 'JobForgotten' })];
