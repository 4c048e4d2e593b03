import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { expiredWakesCodec } from './expired-wakes.codec.js';
import type { ExpiredWakesEvent } from './expired-wakes.events.js';
import type { OldWakes } from './old-wakes.policy.js';

/** Up to where a conversation's wakes have expired. */
export type ExpiredWakes = Readonly<{ before: number }>;

export const expiredWakes: Aggregate<ExpiredWakes, ExpiredWakesEvent> = {
  initial: { before: 0 },
  evolve: (_, { data }) => ({ before: data.before }),
  codec: expiredWakesCodec,
};

export const expireWakes =
  (conversationId: string, { wakeIds, before }: OldWakes, now: Date): Decision<ExpiredWakes, ExpiredWakesEvent> =>
  ({ before: from }) =>
    before <= from
      ? []
      : [{ type: 'WakesExpired', data: { conversationId, wakeIds, from, before, expiredAt: now.toISOString() } }];
