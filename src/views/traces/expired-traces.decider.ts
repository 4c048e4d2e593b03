import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { expiredTracesCodec } from './expired-traces.codec.js';
import type { TracesExpired } from './expired-traces.events.js';

/** The time before which all traces have expired; null if none has. */
export type ExpiredTraces = Readonly<{ before: string | null }>;

export const expiredTraces: Aggregate<ExpiredTraces, TracesExpired> = {
  initial: { before: null },
  evolve: (_, { data: { before } }) => ({ before }),
  codec: expiredTracesCodec,
  snapshot: { type: 'TracesExpired', withinMax: 1 },
};

/** Expires the traces from before a time, unless they have expired up to that time or a later one. */
export const expireTraces =
  (before: Date, now: Date): Decision<ExpiredTraces, TracesExpired> =>
  (expired) =>
    expired.before !== null && new Date(expired.before) >= before
      ? []
      : [{ type: 'TracesExpired', data: { before: before.toISOString(), expiredAt: now.toISOString() } }];
