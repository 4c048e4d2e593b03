import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import { conversation } from './conversation.decider.js';
import { unlessOmitted } from './earlier-turns.port.js';
import {
  conversationStream,
  type TurnAsked,
  type TurnId,
  type TurnOrigin,
  type TurnOutcome,
  type TurnSealed,
} from './conversation.events.js';
import {
  askAutomatically,
  type AutomaticTurnStatus,
  conclude,
  requeue,
  seal,
  startTurn,
  statusOf,
  takeOver,
} from './turn.decider.js';
import type { Conversation, Decide } from './turn.policy.js';

/** A conversation as the sender of a command has folded it. The handler reads later events before it decides. */
export type FoldedConversation = Folded<Conversation>;

/** `changed`: the turn has changed since it was read. `taken`: another producer runs it, or it has ended. */
export type Claim = FoldedConversation | 'changed' | 'taken' | 'deleted';

/** Starts an automatic turn in a conversation, if that is allowed now. */
export class AskAutomaticTurn extends Command<AutomaticTurnStatus> {
  constructor(
    readonly question: Omit<TurnAsked['data'], 'index' | 'origin'> & Readonly<{ origin: TurnOrigin }>,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly known: FoldedConversation,
  ) {
    super();
  }
}

@CommandHandler(AskAutomaticTurn)
export class AskAutomaticTurnHandler implements Handler<AskAutomaticTurn> {
  constructor(private readonly streams: Streams) {}

  /** Returns `free` if this command has started the turn. */
  async execute({ question, ownerId, cause, known }: AskAutomaticTurn): Promise<AutomaticTurnStatus> {
    const { conversationId, turnId } = question;
    const decide = unlessOmitted(turnId, known.state, askAutomatically(question, ownerId));
    const { state, events } = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause, known);
    if (events.length > 0) return 'free';
    const status = statusOf(state, ownerId, turnId);
    return status === 'free' ? 'busy' : status;
  }
}

/** A producer claims a turn, if the turn is unchanged since it was read. */
export class ClaimTurn extends Command<Claim> {
  constructor(
    readonly conversationId: string,
    readonly turnId: TurnId,
    readonly producer: string,
    readonly cause: Cause,
    readonly known: FoldedConversation | undefined,
  ) {
    super();
  }
}

@CommandHandler(ClaimTurn)
class ClaimTurnHandler implements Handler<ClaimTurn> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, turnId, producer, cause, known }: ClaimTurn): Promise<Claim> {
    const before = known?.state.turns.get(turnId);
    let isChanged = false;
    // The turn may be free again after another producer has started calls or paused it. A run must start from the current turn.
    const claim: Decide = (state) => {
      isChanged = known !== undefined && state.turns.get(turnId) !== before;
      return isChanged ? [] : startTurn(turnId, producer)(state);
    };
    try {
      const claimed = await this.streams.transact(conversationStream(conversationId), conversation, claim, cause, known);
      // A failed run of the same producer must be ended first, like that of any other.
      if (claimed.events.length === 0) return isChanged ? 'changed' : 'taken';
      return claimed;
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      return error.code === 'conversation-not-found' ? 'deleted' : 'taken';
    }
  }
}

/** Takes a turn from a lost producer. `by` will end it; with null, any producer may run it. */
export class TakeTurnFrom extends Command<boolean> {
  constructor(
    readonly conversationId: string,
    readonly turnId: TurnId,
    readonly from: string | null,
    readonly by: string | null,
    readonly cause: Cause,
    readonly known: FoldedConversation,
  ) {
    super();
  }
}

@CommandHandler(TakeTurnFrom)
class TakeTurnFromHandler implements Handler<TakeTurnFrom> {
  constructor(private readonly streams: Streams) {}

  /**
   * Returns whether the turn was taken. A producer that has changed the turn since it was read is alive; other events do not show
   * that.
   */
  async execute({ conversationId, turnId, from, by, cause, known }: TakeTurnFrom): Promise<boolean> {
    const turn = known.state.turns.get(turnId);
    const decide = by === null ? requeue(turnId, from!) : takeOver(turnId, from, by);
    const unlessChanged: Decide = (state) =>
      state.turns.get(turnId) === turn && state.status === known.state.status ? decide(state) : [];
    const stream = conversationStream(conversationId);
    return (await this.streams.transact(stream, conversation, unlessChanged, cause, known)).events.length > 0;
  }
}

/** The producer ends its turn. */
export class ConcludeTurn extends Command<FoldedConversation> {
  constructor(
    readonly outcome: TurnOutcome,
    readonly producer: string,
    readonly cause: Cause,
    readonly known: FoldedConversation,
  ) {
    super();
  }
}

@CommandHandler(ConcludeTurn)
class ConcludeTurnHandler implements Handler<ConcludeTurn> {
  constructor(private readonly streams: Streams) {}

  /** @throws Rejection turn-taken */
  execute({ outcome, producer, cause, known }: ConcludeTurn): Promise<FoldedConversation> {
    const stream = conversationStream(outcome.data.conversationId);
    return this.streams.record(stream, conversation, conclude(outcome, producer), cause, known);
  }
}

/** Records that the journal of a turn is complete. */
export class SealTurn extends Command {
  constructor(
    readonly sealed: TurnSealed['data'],
    readonly cause: Cause,
    readonly known: FoldedConversation,
  ) {
    super();
  }
}

@CommandHandler(SealTurn)
class SealTurnHandler implements Handler<SealTurn> {
  constructor(private readonly streams: Streams) {}

  async execute({ sealed, cause, known }: SealTurn): Promise<void> {
    await this.streams.record(conversationStream(sealed.conversationId), conversation, seal(sealed), cause, known);
  }
}

/** The handlers of the commands that processes send to run turns. */
export const turnHandlers = [ClaimTurnHandler, TakeTurnFromHandler, ConcludeTurnHandler, SealTurnHandler] as const;
