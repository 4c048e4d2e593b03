import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { RunEvent } from './run.events.js';

export const runCodec: Codec<RunEvent> = {
  RunQueued: [],
  RunStarted: [],
  RunToolCallStarted: [],
  RunToolCallFinished: [],
  RunAttemptAbandoned: [],
  RunFinished: [],
  RunRefused: [],
  RunFailed: [],
  RunPurged: [],
};
