import type { CheckRules } from './check-report.decider.js';
import type { DefinitionRules } from './definition.policy.js';

/** The rules for monitors, from the settings. */
export abstract class MonitorRules implements CheckRules, DefinitionRules {
  /** If false, no monitors can be created; existing ones continue. */
  abstract readonly isEnabled: boolean;
  abstract readonly intervalSeconds: number;
  abstract readonly intervalSecondsMin: number;
  abstract readonly ttlSeconds: number;
  abstract readonly ttlSecondsMax: number;
  abstract readonly followUps: number;
  abstract readonly followUpsMax: number;
  abstract readonly followUpsPerHourMax: number;
  /** Maximum number of active and paused monitors of one user; 0 means that none can be created. */
  abstract readonly perUserMax: number;
  abstract readonly unreachableGraceMs: number;
  abstract readonly failuresMax: number;
  abstract readonly judgeTokensMax: number;
}
