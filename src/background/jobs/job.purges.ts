import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { jobCodec } from './job.codec.js';
import type { JobPurged } from './job.events.js';

export const jobPurges = [purgeOf<JobPurged>({ category: 'job', codec: jobCodec, type: 'JobPurged' })];
