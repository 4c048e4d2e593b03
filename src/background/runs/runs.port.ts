import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { DeliveryPlace, RunId, RunQueued } from './run.events.js';

/** The kind of task that runs an agent. */
export const RUN_AGENT = 'run-agent';

/** Lets other features queue headless runs. Idempotent by run id. The task of a run has the same id. */
export abstract class Runs {
  abstract queue(run: RunQueued['data'], cause: Cause): Promise<void>;
  /** Ends a run as timed out if it has not started. Idempotent. */
  abstract giveUp(runId: RunId, cause: Cause): Promise<void>;
  /** Purges an ended run with its task and the delivery that requested it. Only its usage is kept. Idempotent. */
  abstract purge(runId: RunId, delivery: DeliveryPlace | null, cause: Cause): Promise<void>;
}
