/** The configuration of this dialect. */
export class McpOptions {
  constructor(
    /** The maximum number of open streams of any kind in one process. */
    readonly streamsMax: number,
    readonly keepaliveMs: number,
    /** False if the deployment does not stream in real time. */
    readonly isServed: boolean,
  ) {}
}
