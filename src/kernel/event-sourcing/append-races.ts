import { AppendQueue } from './append-queue.js';
import { WrongRevision } from './event-store.js';
import type { Timing } from '../timing.js';

/** How long a request that keeps losing races is tried again before its caller gets 503. */
export const RACE_PATIENCE_MS = 30_000;

/** The longest pause after the first lost race; it doubles with each further one. */
export const RACE_PAUSE_MS_FIRST = 10;
export const RACE_PAUSE_MS_MAX = 250;

/** Why what a caller knows of a stream may be old: others of this process went before, or somebody appended first. */
export type Overtaken = 'waited' | WrongRevision;

/** Has appends to a stream tried until one is in time: callers of this process queue up, and pause after races that they lose to others. */
export class AppendRaces {
  private readonly queue: AppendQueue;

  constructor(private readonly timing: Timing) {
    this.queue = new AppendQueue(timing);
  }

  /**
   * Makes an attempt to read, decide and append, and another one whenever the stream turns out to have gone on meanwhile. The
   * pauses are of random length (full jitter): those who lost together do not come back together.
   * @throws WrongRevision once patience has run out, and whatever else the attempt throws at once
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
