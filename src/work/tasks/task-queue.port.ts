import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { TaskQueued } from './task.events.js';

/** Where other rooms queue work. The same task twice is one task. */
export abstract class TaskQueue {
  abstract queue(task: TaskQueued['data'], cause: Cause): Promise<void>;
}
