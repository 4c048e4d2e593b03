import type { Timing } from '../../src/kernel/timing.js';
import { systemTiming } from '../../src/platform/system-timing.js';

/** The timing of a process whose intervals all have this length. */
export const renewingEvery = (ms: number): Timing =>
  Object.assign(Object.create(systemTiming) as Timing, { every: (_: number, work: () => void) => systemTiming.every(ms, work) });
