import { UserEventsOptions } from '../../src/views/notifications/user-events-options.js';

/** The default options of a service. */
export const userEventsOptions = (changes: Partial<UserEventsOptions['settings']> = {}): UserEventsOptions =>
  new UserEventsOptions({
    realtimeRoutes: true,
    pushEnabled: true,
    eventsMax: 1_000,
    ageMaxMs: 48 * 60 * 60 * 1_000,
    replayEventsPerRequestMax: 200,
    replayRequestsPerWindowMax: 30,
    replayWindowMs: 60_000,
    connectionsPerUserMax: 8,
    connectionLeaseMs: 10_000,
    streamsMax: 2_000,
    ...changes,
  });
