import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { TaskEvent } from './task.events.js';

export const taskCodec: Codec<TaskEvent> = {
  TaskQueued: [],
  TaskStarted: [],
  TaskProgressed: [],
  TaskRetryScheduled: [],
  TaskRequeued: [],
  TaskSucceeded: [],
  TaskFailed: [],
  TaskPurged: [],
};
