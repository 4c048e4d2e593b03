import type { Timing } from '../timing.js';

/** Callers of one process that wait for one stream, at most. One more does not wait: it races. */
export const QUEUE_LENGTH_MAX = 1_000;

/** After so long without progress a caller no longer holds up the others. */
export const QUEUE_STALL_MS = 1_000;

/** How a caller came to its place in front. */
export type Place = Readonly<{
  /** Others of this process were there before. */
  waited: boolean;
  /** Notes that the store answers: callers that wait need not race yet. */
  progressed: () => void;
}>;

type Line = { readonly waiting: Set<() => void>; progressedAt: number };

/**
 * Callers of one process that append to the same stream go one after the other, first come first served, instead of making
 * each other lose. Nothing rests on it: who has waited too long, or finds the line full, goes at the same time as others,
 * and the expected revision decides.
 */
export class AppendQueue {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly timing: Timing) {}

  /** Waits for the streams's line to come to this caller, for `patienceMs` at most, and does the work. */
  async run<T>(stream: string, patienceMs: number, work: (place: Place) => Promise<T>): Promise<T> {
    const line = this.lines.get(stream);
    if (!line) {
      const own: Line = { waiting: new Set(), progressedAt: this.timing.elapsedMs() };
      this.lines.set(stream, own);
      return this.inFront(stream, own, false, work);
    }
    if (line.waiting.size >= QUEUE_LENGTH_MAX) return work(besides(false));
    const isInFront = await this.wait(line, patienceMs);
    return isInFront ? this.inFront(stream, line, true, work) : work(besides(true));
  }

  private async inFront<T>(stream: string, line: Line, waited: boolean, work: (place: Place) => Promise<T>): Promise<T> {
    const progressed = () => void (line.progressedAt = this.timing.elapsedMs());
    progressed();
    try {
      return await work({ waited, progressed });
    } finally {
      progressed();
      const [next] = line.waiting;
      if (next) next();
      else this.lines.delete(stream);
    }
  }

  /** Whether the caller is in front now; otherwise it waits no longer. */
  private async wait(line: Line, patienceMs: number): Promise<boolean> {
    const givingUpAt = this.timing.elapsedMs() + patienceMs;
    const over = new AbortController();
    let isInFront = false;
    const called = new Promise<void>((resolve) => {
      const call = () => {
        isInFront = true;
        line.waiting.delete(call);
        resolve();
      };
      line.waiting.add(call);
      over.signal.addEventListener('abort', () => line.waiting.delete(call));
    });
    while (!isInFront) {
      const leftMs = Math.min(givingUpAt, line.progressedAt + QUEUE_STALL_MS) - this.timing.elapsedMs();
      if (leftMs <= 0) break;
      await Promise.race([called, this.timing.pause(leftMs, over.signal)]);
    }
    over.abort();
    return isInFront;
  }
}

const besides = (waited: boolean): Place => ({ waited, progressed: () => undefined });
