import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { RunEvent } from './run.events.js';

/** What is new is left out of events of before; older programs must not take a run without an agent for one of an agent. */
const asBefore = (data: object): object => data;

export const runCodec: Codec<RunEvent> = {
  RunQueued: [asBefore],
  RunStarted: [asBefore],
  RunToolCallStarted: [],
  RunToolCallFinished: [],
  RunAttemptAbandoned: [],
  RunFinished: [],
  RunRefused: [],
  RunFailed: [],
  RunPurged: [],
};
