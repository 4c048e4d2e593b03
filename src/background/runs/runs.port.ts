import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { DeliveryPlace, RunId, RunQueued } from './run.events.js';

/** The kind of task that runs an agent. */
export const RUN_AGENT = 'run-agent';

/** Where other features queue headless runs. The same run queued twice is one run; its task has its id. */
export abstract class Runs {
  abstract queue(run: RunQueued['data'], cause: Cause): Promise<void>;
  /** Of one that is over nothing is kept but what it used, neither of its task nor of the delivery that asked for it. Again, it changes nothing. */
  abstract purge(runId: RunId, delivery: DeliveryPlace | null, cause: Cause): Promise<void>;
}
