import type { Timing } from '../../kernel/timing.js';
import { backOffMs } from './back-off.js';
import { isOutage } from './outage.js';

export type OnOutage = (error: unknown, waitMs: number) => void;

/** Passes outages until there were `max` of them, for a program that has to end. */
export function outagesUpTo(max: number): (error: unknown) => boolean {
  let outages = 0;
  return (error) => isOutage(error) && ++outages < max;
}

/**
 * Runs a step of the start, and retries it with growing pauses during outages of dependencies. Restarting the process would not
 * help more. @throws errors that waiting cannot resolve
 */
export async function throughOutages<T>(
  timing: Timing,
  work: () => Promise<T>,
  onOutage: OnOutage,
  passes = isOutage,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!passes(error)) throw error;
      const waitMs = Math.round(backOffMs(attempt, timing));
      onOutage(error, waitMs);
      await timing.pause(waitMs);
    }
  }
}
