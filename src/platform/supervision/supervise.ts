import type { Logger } from 'pino';
import { backOffMs, pause } from './back-off.js';

/** How long a run must have gone well for the next failure to count as the first one again. */
const SOUND_AFTER_MS = 30_000;

/** Runs something that should run for ever, again and again with growing pauses, until the signal aborts. */
export async function supervise(
  run: (signal: AbortSignal) => Promise<void>,
  { name, signal, log, onFailure }: { name: string; signal: AbortSignal; log: Logger; onFailure?: (error: unknown) => void },
): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    const startedAt = Date.now();
    try {
      await run(signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures = Date.now() - startedAt > SOUND_AFTER_MS ? 1 : failures + 1;
      const waitMs = Math.round(backOffMs(failures));
      onFailure?.(error);
      log.warn({ err: error, name, failures, waitMs }, `${name} failed and will be tried again`);
      await pause(waitMs, signal);
    }
  }
}
