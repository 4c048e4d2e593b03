import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { expiredFollowUpsCodec } from './expired-follow-ups.codec.js';
import type { ExpiredFollowUpsEvent } from './expired-follow-ups.events.js';
import type { OldFollowUps } from './old-follow-ups.policy.js';

/** The follow-ups of a conversation before revision `before` have expired. */
export type ExpiredFollowUps = Readonly<{ before: number }>;

export const expiredFollowUps: Aggregate<ExpiredFollowUps, ExpiredFollowUpsEvent> = {
  initial: { before: 0 },
  evolve: (_, { data }) => ({ before: data.before }),
  codec: expiredFollowUpsCodec,
};

export const expireFollowUps =
  (conversationId: string, { followUpIds, before }: OldFollowUps, now: Date): Decision<ExpiredFollowUps, ExpiredFollowUpsEvent> =>
  ({ before: from }) =>
    before <= from
      ? []
      : [{ type: 'FollowUpsExpired', data: { conversationId, followUpIds, from, before, expiredAt: now.toISOString() } }];
