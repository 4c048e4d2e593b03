import type { Timing } from '../../kernel/timing.js';
import { backOffMs } from './back-off.js';
import { isOutage } from './outage.js';

export type OnOutage = (error: unknown, waitMs: number) => void;

/**
 * What a start needs to have done, tried again with growing pauses for as long as something it needs is away. The one who
 * started the process would do no better by starting it again. @throws what no waiting mends
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
