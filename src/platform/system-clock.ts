import type { Clock } from '../kernel/clock.js';

/** The clock of the machine. */
export const systemClock: Clock = { now: () => new Date() };
