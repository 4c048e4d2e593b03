/** The configuration of journals. */
export class JournalOptions {
  constructor(
    /** False under a plain HTTP server, where the stream of a message returns 404. */
    readonly isServed: boolean,
    /** Maximum number of open streams of this process. */
    readonly streamsMax: number,
    /** How long the frames of an answer are kept. */
    readonly retentionSeconds: number,
  ) {}
}
