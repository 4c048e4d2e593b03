import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { runCodec } from './run.codec.js';
import type { RunForgotten } from './run.events.js';

export const runPurges = [purgeOf<RunForgotten>({ category: 'run', codec: runCodec, type: 'RunForgotten' })];
