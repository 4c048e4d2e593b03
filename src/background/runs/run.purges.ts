import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { runCodec } from './run.codec.js';
import type { RunPurged } from './run.events.js';

export const runPurges = [purgeOf<RunPurged>({ category: 'run', codec: runCodec, type: 'RunPurged' })];
