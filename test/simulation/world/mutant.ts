import type { EventStore } from '../../../src/kernel/event-store.js';
import type { Ticker } from '../../../src/kernel/ticker.js';
import type { Roles } from './roles.js';

/** A fault that somebody might build into the service, planted on purpose: the simulation shows what it is worth by finding it. */
export type Mutant = Readonly<{
  name: string;
  /** What the oracles say of it. */
  foundAs: RegExp;
  store?: (store: EventStore) => void;
  /** Which of the tickers tick. */
  ticks?: (ticker: Ticker) => boolean;
  roles?: (roles: Roles) => void;
  /** How long the log leaves writers in the dark about an append that is the same as one in flight. */
  inFlightTimeoutMs?: readonly [number, number];
}>;
