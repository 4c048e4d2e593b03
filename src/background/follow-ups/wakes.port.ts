import type { Cause } from '../../kernel/event-sourcing/events.js';

/** What may have a conversation go on by itself. `lost`: background work whose process is gone. */
export type WakeSource = 'job' | 'monitor' | 'monitor_paused' | 'monitor_expired' | 'lost';

/** Something happened that a conversation waits for. */
export type Wake = Readonly<{
  conversationId: string;
  ownerId: string;
  source: WakeSource;
  /** What it is about: the job's or the monitor's id. */
  refId: string;
  /** Two wakes of a conversation with the same key are one. */
  dedupeKey: string;
  /** What the model is told. */
  text: string;
}>;

/** Where other features say that a conversation is to go on although nobody asks. */
export abstract class Wakes {
  abstract wake(wake: Wake, cause: Cause): Promise<void>;
}
