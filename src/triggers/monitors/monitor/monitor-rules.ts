import type { CheckRules } from './check-report.decider.js';
import type { DefinitionRules } from './definition.policy.js';

/** The rules by which this service's monitors go, as its settings say. */
export abstract class MonitorRules implements CheckRules, DefinitionRules {
  /** Off: none is made; those there are go on. */
  abstract readonly isEnabled: boolean;
  abstract readonly intervalSeconds: number;
  abstract readonly intervalSecondsMin: number;
  abstract readonly ttlSeconds: number;
  abstract readonly ttlSecondsMax: number;
  abstract readonly followUps: number;
  abstract readonly followUpsMax: number;
  abstract readonly followUpsPerHourMax: number;
  /** Monitors of one user that are active or paused; 0: none. */
  abstract readonly perUserMax: number;
  abstract readonly unreachableGraceMs: number;
  abstract readonly failuresMax: number;
  abstract readonly judgeTokensMax: number;
}
