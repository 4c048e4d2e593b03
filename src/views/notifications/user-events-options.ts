/** What user events need to know of the configuration. */
export class UserEventsOptions {
  constructor(
    readonly settings: Readonly<{
      /** False under a plain server, where the route answers 404. */
      realtimeRoutes: boolean;
      /** Whether anything is published at all. */
      pushEnabled: boolean;
      /** Events that are kept for each user. */
      eventsMax: number;
      /** Events older than this are not replayed. */
      ageMaxMs: number;
      replayEventsPerRequestMax: number;
      /** Replays of one user in any window of that length; 0 is no limit. */
      replayRequestsPerWindowMax: number;
      replayWindowMs: number;
      /** Connections of one user at once, in all processes; 0 is no limit. */
      connectionsPerUserMax: number;
      /** How long a connection is counted after its process has died. */
      connectionLeaseMs: number;
      /** Streams this process has open at once, whatever they carry. */
      streamsMax: number;
    }>,
  ) {}
}
