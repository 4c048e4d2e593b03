import type { Command, Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, type Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { CalledTool, CallEndStatus, TurnOutcome, TurnPaused } from '../../conversation/conversation.events.js';
import { FinishToolCall, PauseTurn, StartToolCall } from '../../conversation/pause.commands.js';
import { ConcludeTurn } from '../../conversation/turn.commands.js';
import type { Conversation } from '../../conversation/turn.policy.js';
import { JournalLost, RUN_PATIENCE_MS } from '../../journal/journal.js';
import type { CallLedger } from '../loop/tool-round.js';

/**
 * Appends a producer's events to the conversation while it runs a turn, each after the revision that the producer last read or
 * wrote.
 */
export class TurnLedger implements CallLedger {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly ids: Readonly<{ conversationId: string; turnId: string; producer: string }>,
    private readonly cause: Cause,
    /** The conversation as far as this producer has read and written it. */
    public folded: Folded<Conversation>,
  ) {}

  /** Records the start of a call with effects, before it runs. @throws JournalLost if another producer has taken the turn */
  readonly begin = (call: CalledTool): Promise<void> => {
    const { conversationId, turnId, producer } = this.ids;
    return this.append(() => new StartToolCall(conversationId, turnId, producer, call, this.cause, this.folded));
  };

  readonly finish = (callId: string, status: CallEndStatus, result: string): Promise<void> => {
    const { conversationId, turnId } = this.ids;
    return this.append(() => new FinishToolCall({ conversationId, turnId, callId, status, result }, this.cause, this.folded));
  };

  /** Records the outcome of the turn. @throws JournalLost if another producer has taken the turn */
  conclude(outcome: TurnOutcome): Promise<void> {
    return this.append(() => new ConcludeTurn(outcome, this.ids.producer, this.cause, this.folded));
  }

  /** @throws JournalLost if another producer has taken the turn */
  pause(paused: TurnPaused['data']): Promise<void> {
    return this.append(() => new PauseTurn(paused, this.ids.producer, this.cause, this.folded));
  }

  /** Calls with effects that have started and have no recorded end. */
  get unfinished(): ReadonlyMap<string, CalledTool> {
    const calls = this.folded.state.turns.get(this.ids.turnId)?.unfinishedCalls ?? [];
    return new Map(calls.map((call) => [call.callId, call]));
  }

  private async append(command: () => Command<Folded<Conversation>>): Promise<void> {
    try {
      this.folded = await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.commands.execute(command()));
    } catch (error) {
      if (error instanceof Rejection && error.code === 'turn-taken') throw new JournalLost(error.message, { cause: error });
      throw error;
    }
  }
}
