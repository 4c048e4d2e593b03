import type { Cause } from './events.js';

/** Acts because time has passed: reads from a read model what is due, and sends commands, which are idempotent. */
export type Ticker = Readonly<{
  name: string;
  everyMs: number;
  /** The role of the processes that run it; `worker` by default. */
  role?: 'api' | 'worker';
  tick(now: Date): Promise<void>;
}>;

/**
 * The cause of the events of a ticker, with an id for each thing that it acts on: things of different owners that are due at
 * the same time begin different causal chains. Only the purges of one tick share a chain.
 */
export function causeOfTick({ name }: Pick<Ticker, 'name'>, id: string): Cause {
  return { actor: `system:${name}`, credential: 'system', correlationId: id, causationId: id };
}
