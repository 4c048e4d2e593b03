import type { Commits } from './commits.js';
import type { Faults } from './faults.js';
import type { Log } from './log.js';

/** What the services of one server share. */
export type ServerState = {
  log: Log;
  commits: Commits;
  readonly faults: Faults;
  readonly maxAppendBytes: number;
  /** Events handed to the transport for readers so far. */
  delivered: number;
  /** Appends that arrived so far, whatever became of them. */
  appendsSeen: number;
  /** Reads and subscriptions that are open. */
  readers: number;
  dropConnections: () => void;
};
