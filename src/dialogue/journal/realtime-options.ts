/** What the realtime routes need to know of the configuration. */
export class RealtimeOptions {
  constructor(
    /** False under a plain server, where both realtime routes answer 404. */
    readonly realtimeRoutes: boolean,
    /** Streams this process has open at once, at most. */
    readonly streamsMax: number,
  ) {}
}
