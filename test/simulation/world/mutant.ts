import type { Ticker } from '../../../src/kernel/event-sourcing/ticker.js';
import type { ProcessStore } from '../ports/process-store.js';
import type { ReadModelServer } from '../read-models/read-model-server.js';
import type { Roles } from './roles.js';

/** A fault that somebody might build into the service, planted on purpose: the simulation shows what it is worth by finding it. */
export type Mutant = Readonly<{
  name: string;
  /** What the oracles say of it. */
  foundAs: RegExp;
  store?: (store: ProcessStore) => void;
  readModels?: (server: ReadModelServer) => void;
  /** Reactions note that an event is done, and then act on it. */
  isDoneBeforeActing?: boolean;
  /** Which of the tickers tick. */
  ticks?: (ticker: Ticker) => boolean;
  roles?: (roles: Roles) => void;
  /** How long the log leaves writers in the dark about an append that is the same as one in flight. */
  inFlightTimeoutMs?: readonly [number, number];
}>;
