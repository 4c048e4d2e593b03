import type { Clock } from '../kernel/clock.js';

/** The machine's own. */
export const systemClock: Clock = { now: () => new Date() };
