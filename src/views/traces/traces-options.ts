/** The configuration of traces. */
export abstract class TracesOptions {
  /** Older traces are not shown, and expire. */
  abstract readonly retentionMs: number;
}
