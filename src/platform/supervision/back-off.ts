import type { Timing } from '../../kernel/timing.js';

export const BACK_OFF_FIRST_MS = 100;
export const BACK_OFF_MAX_MS = 5_000;

/** The delay before a further attempt in milliseconds: exponential, bounded, and with jitter. */
export function backOffMs(attempt: number, timing: Pick<Timing, 'random'>): number {
  const ceiling = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** Math.min(attempt - 1, 16));
  return ceiling / 2 + (ceiling / 2) * timing.random();
}
