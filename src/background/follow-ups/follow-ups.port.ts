import type { Cause } from '../../kernel/event-sourcing/events.js';

/** The sources of follow-ups. `lost`: a background job whose process is gone. */
export type FollowUpSource = 'job' | 'monitor' | 'monitor_paused' | 'monitor_expired' | 'lost';

/** `claimed`: the follow-up is delivered as soon as its conversation is free. */
export type FollowUpState = 'pending' | 'claimed' | 'delivered' | 'merged' | 'suppressed' | 'superseded' | 'failed';

/** An occurrence that a conversation waits for. */
export type FollowUp = Readonly<{
  conversationId: string;
  ownerId: string;
  source: FollowUpSource;
  /** The id of the job or monitor. */
  refId: string;
  /** A conversation gets only one follow-up with the same key. */
  dedupeKey: string;
  /** The text that the model reads. */
  text: string;
}>;

/** Lets other features request follow-ups. */
export abstract class FollowUps {
  /** Resolves to false, and stores nothing, if the conversation has been deleted. */
  abstract request(followUp: FollowUp, cause: Cause): Promise<boolean>;
}
