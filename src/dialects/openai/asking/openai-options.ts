/** The configuration of this dialect. */
export class OpenAiOptions {
  constructor(
    /** The maximum number of open streams of any kind in one process. */
    readonly streamsMax: number,
    /** How long journals of answers are kept. */
    readonly retentionSeconds: number,
  ) {}
}
