export type TimerOptions = Readonly<{
  /** The timer does not keep the process running. */
  unref?: boolean;
}>;

/** Elapsed time, timers and random numbers for the core, which also has the `Clock`. Tests replace them. */
export abstract class Timing {
  /** Monotonic time in milliseconds since an arbitrary moment. */
  abstract elapsedMs(): number;

  /** Resolves in the next turn of the event loop, after everything that was scheduled for that turn before. */
  abstract nextTurn(): Promise<void>;

  /** Resolves after the time, or as soon as the signal aborts. */
  abstract pause(ms: number, signal?: AbortSignal): Promise<void>;

  /** Calls back once after the time. The returned function cancels. */
  abstract after(ms: number, work: () => void, options?: TimerOptions): () => void;

  /** Calls back at each interval. The returned function cancels. The timer does not keep the process running. */
  abstract every(ms: number, work: () => void): () => void;

  /** Aborts after the time with a `TimeoutError`. The timer does not keep the process running. */
  abstract deadline(ms: number): AbortSignal;

  /** A random number, at least 0 and below 1. */
  abstract random(): number;
}
