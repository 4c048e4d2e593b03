/** What journals need to know of the configuration. */
export class JournalOptions {
  constructor(
    /** False under a plain server, where the stream of a message answers 404. */
    readonly isServed: boolean,
    /** Streams this process has open at once, at most. */
    readonly streamsMax: number,
    /** How long the frames of an answer are kept. */
    readonly retentionSeconds: number,
  ) {}
}
