import type { Cause } from './events.js';

/** Acts because time has passed: asks a read model what is due and sends ordinary commands, which make doubles harmless. */
export type Ticker = Readonly<{
  name: string;
  everyMs: number;
  /** The processes that it ticks in: workers, where it does not say. */
  role?: 'api' | 'worker';
  tick(now: Date): Promise<void>;
}>;

/** Why things happen in one tick, by its id. */
export function causeOfTick({ name }: Pick<Ticker, 'name'>, id: string): Cause {
  return { actor: `system:${name}`, credential: 'system', correlationId: id, causationId: id };
}
