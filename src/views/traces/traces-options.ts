/** The configuration of traces. */
export abstract class TracesOptions {
  /** Older traces are not shown. */
  abstract readonly retentionMs: number;
}
