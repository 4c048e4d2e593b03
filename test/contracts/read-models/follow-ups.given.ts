import type { FollowUpsEvent } from '../../../src/background/follow-ups/follow-ups.events.js';
import type { FollowUpSource } from '../../../src/background/follow-ups/follow-ups.port.js';

export const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
export const requested = (
  conversationId: string,
  followUpId: string,
  more: { ownerId?: string; source?: FollowUpSource; text?: string } = {},
): FollowUpsEvent => ({
  type: 'FollowUpRequested',
  data: {
    conversationId,
    followUpId,
    ownerId: 'ann',
    source: 'job',
    refId: `ref ${followUpId}`,
    dedupeKey: `key ${followUpId}`,
    text: 'It is done.',
    ...more,
  },
});
export const gathered = (conversationId: string, turnId: string, ...followUpIds: string[]): FollowUpsEvent => ({
  type: 'FollowUpsGathered',
  data: { conversationId, turnId, followUpIds },
});
