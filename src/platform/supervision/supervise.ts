import type { Logger } from 'pino';
import type { Timing } from '../../kernel/timing.js';
import { backOffMs } from './back-off.js';
import { FAILURE_LOGGED_EVERY_MS, logFailure } from './failure-log.js';

/** After a run of this length, the next failure counts as the first one again. */
const SOUND_AFTER_MS = 30_000;

type Supervision = Readonly<{
  name: string;
  signal: AbortSignal;
  log: Logger;
  timing: Timing;
  onFailure?: (error: unknown) => void;
}>;

/**
 * Runs a task that should never end, and restarts it with growing pauses until the signal aborts. A failure that repeats itself is
 * logged once a minute.
 */
export async function supervise(
  run: (signal: AbortSignal) => Promise<void>,
  { name, signal, log, timing, onFailure }: Supervision,
): Promise<void> {
  let logged: Readonly<{ text: string; at: number }> | undefined;
  for (let failures = 0; !signal.aborted;) {
    const startedAt = timing.elapsedMs();
    try {
      await run(signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures = timing.elapsedMs() - startedAt > SOUND_AFTER_MS ? 1 : failures + 1;
      const waitMs = Math.round(backOffMs(failures, timing));
      onFailure?.(error);
      const text = String(error);
      const now = timing.elapsedMs();
      if (logged?.text !== text || now - logged.at >= FAILURE_LOGGED_EVERY_MS) {
        logged = { text, at: now };
        logFailure({ log, timing }, 'warn', { err: error, name, failures, waitMs }, `${name} failed and will be tried again`);
      }
      await timing.pause(waitMs, signal);
    }
  }
}
