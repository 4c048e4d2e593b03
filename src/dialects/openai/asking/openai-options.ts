/** What this dialect needs to know of the configuration. */
export class OpenAiOptions {
  constructor(
    /** Streams that one process has open at once, whatever they carry. */
    readonly streamsMax: number,
    /** How long journals of answers are kept. */
    readonly retentionSeconds: number,
  ) {}
}
