import type { LedgerRules } from './schedule.policy.js';

/** The rules for schedules, from the settings. */
export abstract class ScheduleRules implements LedgerRules {
  abstract readonly misfireGraceMs: number;
  abstract readonly missedAfterMs: number;
  abstract readonly runLimitMs: number;
  /** Maximum duration of one attempt at a run. */
  abstract readonly runTimeoutMs: number;
  abstract readonly failuresMax: number;
  /** Minimum time between two slots; 0 means no minimum. */
  abstract readonly cadenceSecondsMin: number;
  /** How far in the future a one-time schedule may be. */
  abstract readonly horizonMs: number;
  /** Maximum number of active and paused schedules of one user; 0 means no limit. */
  abstract readonly perUserMax: number;
}
