/** What this dialect needs to know of the configuration. */
export class McpOptions {
  constructor(
    /** Streams that one process has open at once, whatever they carry. */
    readonly streamsMax: number,
    readonly keepaliveMs: number,
    /** False where nothing streams in real time. */
    readonly isServed: boolean,
  ) {}
}
