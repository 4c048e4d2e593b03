import type { Commits } from './commits.js';
import type { Faults } from './faults.js';
import type { Log } from './log.js';

/** The state that the gRPC services of one server share. */
export type ServerState = {
  log: Log;
  commits: Commits;
  readonly faults: Faults;
  readonly maxAppendBytes: number;
  /** The number of events that were sent to readers. */
  delivered: number;
  /** The number of appends that arrived, whatever their outcome. */
  appendsSeen: number;
  /** The number of open reads and subscriptions. */
  readers: number;
  dropConnections: () => void;
};
