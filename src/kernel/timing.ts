export type TimerOptions = Readonly<{
  /** The process may end before it. */
  unref?: boolean;
}>;

/** Elapsed time, waiting and chance: what the core has of the machine's, beside the `Clock`. Tests bring their own. */
export abstract class Timing {
  /** Milliseconds since some moment in the past. It never goes back. */
  abstract elapsedMs(): number;

  /** Resolves after a time, or as soon as the signal aborts. */
  abstract pause(ms: number, signal?: AbortSignal): Promise<void>;

  /** Calls back once, after a time, unless the returned function is called before. */
  abstract after(ms: number, work: () => void, options?: TimerOptions): () => void;

  /** Calls back again and again until the returned function is called; the process may end meanwhile. */
  abstract every(ms: number, work: () => void): () => void;

  /** Aborts after a time, with a `TimeoutError`; the process may end before it. */
  abstract deadline(ms: number): AbortSignal;

  /** At least 0 and below 1. */
  abstract random(): number;
}
