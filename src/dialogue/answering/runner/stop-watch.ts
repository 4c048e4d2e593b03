import type { Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Signals } from '../../../kernel/messaging/signals.js';
import type { Timing } from '../../../kernel/timing.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { type Conversation, stopSubject } from '../../conversation/turn.policy.js';

/** The interval at which a running turn checks the log for a stop request, because the signal of a stop may be lost. */
const STOP_POLL_MS = 2_000;

/** Notifies running turns of stop requests and of the deletion of their conversation. */
export class StopWatch {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
    private readonly timing: Timing,
  ) {}

  /** Calls `onStop` when the turn has to stop, until the returned function is called. */
  watch(claimed: Folded<Conversation>, turnId: string, onStop: () => void): () => void {
    let folded = claimed;
    const poll = async (): Promise<void> => {
      folded = await this.streams.fold(conversationStream(claimed.state.id), conversation, folded);
      const { state } = folded;
      if (state.status === 'deleted' || state.turns.get(turnId)?.stopRequested) onStop();
    };
    // A failed check is repeated at the next interval. The append of the outcome checks the log in any case.
    const pollQuietly = () => void poll().catch(() => undefined);
    const unsubscribe = this.signals.subscribe(stopSubject(turnId), pollQuietly);
    const stopPolling = this.timing.every(STOP_POLL_MS, pollQuietly);
    return () => {
      stopPolling();
      unsubscribe();
    };
  }
}
