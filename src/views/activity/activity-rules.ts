/** What activity needs to know of the configuration. */
export abstract class ActivityRules {
  /** A slot for which no run started is missed this long after it. */
  abstract readonly missedAfterMs: number;
  /** How long runs are kept, by what made them. */
  abstract readonly scheduleRunRetentionMs: number;
  abstract readonly traceRetentionMs: number;
  abstract readonly backgroundRetentionMs: number;
}
