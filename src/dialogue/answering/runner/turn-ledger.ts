import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type Folded, type Streams } from '../../../kernel/event-sourcing/streams.js';
import { conclude, conversation } from '../../conversation/conversation.decider.js';
import {
  type CalledTool,
  conversationStream,
  type TurnOutcome,
  type TurnPaused,
} from '../../conversation/conversation.events.js';
import { finishCall, pause, startCall } from '../../conversation/pause.decider.js';
import type { Conversation, Decide } from '../../conversation/turn.policy.js';
import { JournalLost, RUN_PATIENCE_MS } from '../../journal/journal.js';
import type { CallLedger } from '../loop/tool-round.js';

/** What a producer states in the conversation while it runs a turn, each on top of what it knows of it already. */
export class TurnLedger implements CallLedger {
  constructor(
    private readonly streams: Streams,
    private readonly ids: Readonly<{ conversationId: string; turnId: string; producer: string }>,
    private readonly cause: Cause,
    /** The conversation as far as this producer has read and written it. */
    public folded: Folded<Conversation>,
  ) {}

  /** Before a call with effects runs. @throws JournalLost when the turn is somebody else's by now */
  readonly begin = (call: CalledTool): Promise<void> => this.state(startCall(this.ids.turnId, this.ids.producer, call));

  readonly finish = async (callId: string, status: 'completed' | 'error', result: string): Promise<void> => {
    const { conversationId, turnId } = this.ids;
    await this.state(finishCall({ conversationId, turnId, callId, status, result }));
  };

  /** How the turn ended. @throws JournalLost when it is somebody else's by now */
  conclude(outcome: TurnOutcome): Promise<void> {
    return this.state(conclude(outcome, this.ids.producer));
  }

  /** @throws JournalLost when the turn is somebody else's by now */
  pause(paused: TurnPaused['data']): Promise<void> {
    return this.state(pause(paused, this.ids.producer));
  }

  /** Calls with effects that were begun and of which no end is known. */
  get unfinished(): ReadonlyMap<string, CalledTool> {
    return this.folded.state.turns.get(this.ids.turnId)?.unfinishedCalls ?? new Map();
  }

  private async state(decide: Decide): Promise<void> {
    const stream = conversationStream(this.ids.conversationId);
    try {
      this.folded = await this.streams.outlasting(RUN_PATIENCE_MS, () =>
        this.streams.record(stream, conversation, decide, this.cause, this.folded),
      );
    } catch (error) {
      if (error instanceof Rejection && error.code === 'turn-taken') throw new JournalLost(error.message, { cause: error });
      throw error;
    }
  }
}
