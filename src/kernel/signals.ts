/** A larger payload is lost: a signal says that there is something to read, not what. */
export const SIGNAL_BYTES_MAX = 64 * 1024;

/**
 * Wake-ups between parts of the service, in one process or many. A signal may be lost, late or doubled: its receivers also poll
 * the log. A signal alone carries no information.
 */
export abstract class Signals {
  /** Subjects are dot-separated tokens without spaces. Never throws and never waits. */
  abstract publish(subject: string, payload: string): void;
  /** Calls back for each payload on exactly this subject until the returned function is called. */
  abstract subscribe(subject: string, onSignal: (payload: string) => void): () => void;
  /** False while signals of other processes cannot arrive: waiters then look at the log more often. */
  abstract readonly healthy: boolean;
}
