import type { Ticker } from '../../../src/kernel/event-sourcing/ticker.js';
import type { ProcessStore } from '../ports/process-store.js';
import type { ReadModelServer } from '../read-models/read-model-server.js';
import type { Roles } from './roles.js';

/** A fault that a developer might introduce, planted on purpose. The simulation proves its worth by finding it. */
export type Mutant = Readonly<{
  name: string;
  /** The violation that reveals it. */
  foundAs: RegExp;
  store?: (store: ProcessStore) => void;
  readModels?: (server: ReadModelServer) => void;
  /** Reactions record an event as done before they act on it. */
  isDoneBeforeActing?: boolean;
  /** Which tickers run. */
  ticks?: (ticker: Ticker) => boolean;
  roles?: (roles: Roles) => void;
  /** The time before the log reports a timeout for an append that is identical to one in flight. */
  inFlightTimeoutMs?: readonly [number, number];
}>;
