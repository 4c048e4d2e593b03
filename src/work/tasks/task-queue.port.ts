import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { TaskQueued } from './task.events.js';

/** Queues tasks of other rooms. A repeated task is queued once. */
export abstract class TaskQueue {
  abstract queue(task: TaskQueued['data'], cause: Cause): Promise<void>;
}
