import type { LedgerRules } from './schedule.policy.js';

/** The rules by which this service's schedules go, as its settings say. */
export abstract class ScheduleRules implements LedgerRules {
  abstract readonly misfireGraceMs: number;
  abstract readonly missedAfterMs: number;
  abstract readonly runLimitMs: number;
  /** How long an attempt at a run may take. */
  abstract readonly runTimeoutMs: number;
  abstract readonly failuresMax: number;
  /** The shortest time between two slots; 0: any. */
  abstract readonly cadenceSecondsMin: number;
  /** How far ahead a one-time schedule may be. */
  abstract readonly horizonMs: number;
  /** Schedules of one user that are active or paused; 0: any number. */
  abstract readonly perUserMax: number;
}
