import type { Logger } from 'pino';
import { LogEndsEarlier } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { LeadershipLost } from './leadership.js';
import { isOutage } from './outage.js';

/** How often a failure is logged while it lasts. */
export const FAILURE_LOGGED_EVERY_MS = 60_000;

/** When each kind of outage was last logged, per log. */
const logged = new WeakMap<Logger, Map<string, number>>();

/**
 * Logs a failure of work that is tried again. An outage makes all followers and tickers fail again and again, so one line stands
 * for all of them, without a stack.
 */
export function logFailure(
  { log, timing }: Readonly<{ log: Logger; timing: Timing }>,
  level: 'warn' | 'error',
  { err, ...fields }: Readonly<Record<string, unknown>>,
  text: string,
): void {
  if (!isShared(err)) return log[level]({ err, ...fields }, text);
  const kinds = logged.get(log) ?? new Map<string, number>();
  logged.set(log, kinds);
  const kind = kindOf(err);
  const before = kinds.get(kind);
  const now = timing.elapsedMs();
  if (before !== undefined && now - before < FAILURE_LOGGED_EVERY_MS) return;
  kinds.set(kind, now);
  log.warn(
    fields,
    `${text} (${err.message}). Failures of this kind are not logged again for ${FAILURE_LOGGED_EVERY_MS / 1000} s.`,
  );
}

const isShared = (error: unknown): error is Error =>
  error instanceof Error && (isOutage(error) || error instanceof LogEndsEarlier || error instanceof LeadershipLost);

const kindOf = (error: Error): string => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
};
