import type { Cause } from '../../kernel/event-sourcing/events.js';

/** What may have a conversation go on by itself. `lost`: background work whose process is gone. */
export type FollowUpSource = 'job' | 'monitor' | 'monitor_paused' | 'monitor_expired' | 'lost';

/** Something happened that a conversation waits for. */
export type FollowUp = Readonly<{
  conversationId: string;
  ownerId: string;
  source: FollowUpSource;
  /** What it is about: the job's or the monitor's id. */
  refId: string;
  /** Two follow-ups of a conversation with the same key are one. */
  dedupeKey: string;
  /** What the model reads. */
  text: string;
}>;

/** Where other features request that a conversation goes on by itself. */
export abstract class FollowUps {
  abstract request(followUp: FollowUp, cause: Cause): Promise<void>;
}
