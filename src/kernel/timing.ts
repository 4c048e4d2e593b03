/** Elapsed time, waiting and chance, as far as attempts that are repeated need them; tests bring their own. */
export abstract class Timing {
  /** Milliseconds since some moment in the past. It never goes back. */
  abstract elapsedMs(): number;

  /** Resolves after a time, or as soon as the signal aborts. */
  abstract pause(ms: number, signal?: AbortSignal): Promise<void>;

  /** At least 0 and below 1. */
  abstract random(): number;
}
