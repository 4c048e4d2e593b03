/** The configuration of the activity view. */
export abstract class ActivityRules {
  /** A slot without a run counts as missed after this time. */
  abstract readonly missedAfterMs: number;
  /** The retention periods of runs, by their kind. */
  abstract readonly scheduleRunRetentionMs: number;
  abstract readonly traceRetentionMs: number;
  abstract readonly backgroundRetentionMs: number;
}
