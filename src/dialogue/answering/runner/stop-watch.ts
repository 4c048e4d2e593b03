import type { Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Signals } from '../../../kernel/signals.js';
import type { Timing } from '../../../kernel/timing.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { type Conversation, stopSubject } from '../../conversation/turn.policy.js';

/** A stop is sent as a signal, which may be lost: so often a running turn also looks for a stop in the log. */
const STOP_LOOK_MS = 2_000;

/** Tells running turns that they are to stop, or that their conversation was deleted. */
export class StopWatch {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
    private readonly timing: Timing,
  ) {}

  /** Calls back when the turn is to stop, until the returned function is called. */
  watch(claimed: Folded<Conversation>, turnId: string, onStop: () => void): () => void {
    let folded = claimed;
    const look = async (): Promise<void> => {
      folded = await this.streams.fold(conversationStream(claimed.state.id), conversation, folded);
      const { state } = folded;
      if (state.status === 'deleted' || state.turns.get(turnId)?.stopRequested) onStop();
    };
    // A look that fails is made again; the outcome is decided on the log in any case.
    const lookQuietly = () => void look().catch(() => undefined);
    const unsubscribe = this.signals.subscribe(stopSubject(turnId), lookQuietly);
    const stopLooking = this.timing.every(STOP_LOOK_MS, lookQuietly);
    return () => {
      stopLooking();
      unsubscribe();
    };
  }
}
