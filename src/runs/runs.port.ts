import type { Cause } from '../kernel/events.js';
import type { RunQueued } from './run.events.js';

/** The kind of task that runs an agent. */
export const RUN_AGENT = 'run-agent';

/** Where other features leave what agents are to do with nobody watching. The same run twice is one run; its task has its id. */
export abstract class Runs {
  abstract queue(run: RunQueued['data'], cause: Cause): Promise<void>;
}
