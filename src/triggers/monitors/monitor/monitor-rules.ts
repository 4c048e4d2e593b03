import type { CheckRules } from './check-report.decider.js';
import type { TermsRules } from './terms.policy.js';

/** The rules by which this service's monitors go, as its settings say. */
export abstract class MonitorRules implements CheckRules, TermsRules {
  /** Off: none is made; those there are go on. */
  abstract readonly isEnabled: boolean;
  abstract readonly intervalSeconds: number;
  abstract readonly intervalSecondsMin: number;
  abstract readonly ttlSeconds: number;
  abstract readonly ttlSecondsMax: number;
  abstract readonly wakes: number;
  abstract readonly wakesMax: number;
  abstract readonly wakesPerHourMax: number;
  /** Monitors of one user that are active or paused; 0: none. */
  abstract readonly perUserMax: number;
  abstract readonly unreachableGraceMs: number;
  abstract readonly failuresMax: number;
  abstract readonly judgeTokensMax: number;
}
