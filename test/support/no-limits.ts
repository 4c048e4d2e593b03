import { UsageLimits } from '../../src/work/limits/usage-limits.port.js';

/** Admits everything. */
export class NoLimits extends UsageLimits {
  admit(): Promise<void> {
    return Promise.resolve();
  }
  withdraw(): void {}
  endSeen(): void {}
}
