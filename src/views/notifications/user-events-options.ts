/** The configuration of user events. */
export class UserEventsOptions {
  constructor(
    readonly settings: Readonly<{
      /** False in a deployment without real-time routes. The route then answers 404. */
      realtimeRoutes: boolean;
      /** Whether user events are published. */
      pushEnabled: boolean;
      /** The number of events that are stored for each user. */
      eventsMax: number;
      /** Events older than this are not replayed. */
      ageMaxMs: number;
      replayEventsPerRequestMax: number;
      /** The maximum number of replays of one user in any window of `replayWindowMs`. 0: no limit. */
      replayRequestsPerWindowMax: number;
      replayWindowMs: number;
      /** The maximum number of open connections of one user in all processes. 0: no limit. */
      connectionsPerUserMax: number;
      /** How long connections count after their process has crashed. */
      connectionLeaseMs: number;
      /** The maximum number of open streams of any kind in this process. */
      streamsMax: number;
    }>,
  ) {}
}
