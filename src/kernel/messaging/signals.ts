/** A larger payload is dropped. A signal only reports that there is something to read. */
export const SIGNAL_BYTES_MAX = 64 * 1024;

/**
 * Wake-ups between parts of the service, in one process or several. A signal may be lost, late or duplicated, so its receivers
 * also poll the log and never rely on its content.
 */
export abstract class Signals {
  /** Sends without waiting and never throws. Subjects are dot-separated tokens without spaces. */
  abstract publish(subject: string, payload: string): void;
  /** Calls back for each payload of exactly this subject. The returned function unsubscribes. */
  abstract subscribe(subject: string, onSignal: (payload: string) => void): () => void;
  /** False while signals of other processes cannot arrive. Waiting readers then poll the log more often. */
  abstract readonly healthy: boolean;
}
