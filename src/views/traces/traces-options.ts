/** What traces need to know of the configuration. */
export abstract class TracesOptions {
  /** Older ones are not told of. */
  abstract readonly retentionMs: number;
}
