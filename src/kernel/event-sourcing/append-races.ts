import { AppendQueue } from './append-queue.js';
import { WrongRevision } from './event-store.js';
import type { Timing } from '../timing.js';

/** How long an append that keeps losing races is retried before its caller gets 503. */
export const RACE_PATIENCE_MS = 30_000;

/** The maximum pause after the first lost race. It doubles with each further one. */
export const RACE_PAUSE_MS_FIRST = 10;
export const RACE_PAUSE_MS_MAX = 250;

/** Why a caller's state of a stream may be stale: it waited for callers of this process, or another append was first. */
export type Overtaken = 'waited' | WrongRevision;

/** Retries appends that lose races. Callers of this process queue for each stream; after a lost race they pause. */
export class AppendRaces {
  private readonly queue: AppendQueue;

  constructor(private readonly timing: Timing) {
    this.queue = new AppendQueue(timing);
  }

  /**
   * Runs an attempt to read, decide and append, and runs it again whenever another append was first. Pauses have a random length
   * (full jitter), so that callers that lost the same race do not retry at the same time.
   * @throws WrongRevision after `patienceMs` of lost races; other errors of the attempt at once
   */
  run<T>(stream: string, attempt: (overtaken: Overtaken | undefined) => Promise<T>, patienceMs = RACE_PATIENCE_MS): Promise<T> {
    const givingUpAt = this.timing.elapsedMs() + patienceMs;
    return this.queue.run(stream, patienceMs, async ({ waited, progressed }) => {
      let overtaken: Overtaken | undefined = waited ? 'waited' : undefined;
      for (let losses = 0; ; losses++) {
        try {
          return await attempt(overtaken);
        } catch (error) {
          if (!(error instanceof WrongRevision)) throw error;
          const pauseMs = this.timing.random() * Math.min(RACE_PAUSE_MS_MAX, RACE_PAUSE_MS_FIRST * 2 ** losses);
          if (this.timing.elapsedMs() + pauseMs > givingUpAt) throw error;
          progressed();
          await this.timing.pause(pauseMs);
          overtaken = error;
        }
      }
    });
  }
}
