import type { Timing } from '../kernel/timing.js';
import { pause } from './supervision/back-off.js';

/** The machine's own. */
export const systemTiming: Timing = { elapsedMs: () => performance.now(), pause, random: Math.random };
