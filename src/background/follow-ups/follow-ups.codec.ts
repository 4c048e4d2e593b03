import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { FollowUpsEvent } from './follow-ups.events.js';

export const followUpsCodec: Codec<FollowUpsEvent> = {
  FollowUpRequested: [],
  FollowUpsGathered: [],
  FollowUpDelivered: [],
  FollowUpMerged: [],
  FollowUpSuppressed: [],
  FollowUpSuperseded: [],
  FollowUpFailed: [],
};
