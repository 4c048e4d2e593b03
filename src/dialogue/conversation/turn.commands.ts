import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import { conclude, conversation, seal, startTurn, takeOver } from './conversation.decider.js';
import { conversationStream, type TurnId, type TurnOutcome, type TurnSealed } from './conversation.events.js';
import { requeue } from './pause.decider.js';
import type { Conversation, Decide } from './turn.policy.js';

/** A conversation as the sender of a command has folded it. Later events are read before the decision. */
export type FoldedConversation = Folded<Conversation>;

/** `changed`: others have stated something of the turn since it was read; `taken`: another producer runs it, or it is over. */
export type Claim = FoldedConversation | 'changed' | 'taken' | 'deleted';

/** A producer takes a turn that was asked, as it was when it was last read. */
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
    // It may be free again after others have begun calls, or paused: a run starts from what is known of its turn.
    const claim: Decide = (state) => {
      isChanged = known !== undefined && state.turns.get(turnId) !== before;
      return isChanged ? [] : startTurn(turnId, producer)(state);
    };
    try {
      const claimed = await this.streams.transact(conversationStream(conversationId), conversation, claim, cause, known);
      // A run of the same producer that failed is ended first, like anybody else's.
      if (claimed.events.length === 0) return isChanged ? 'changed' : 'taken';
      return claimed;
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      return error.code === 'conversation-not-found' ? 'deleted' : 'taken';
    }
  }
}

/** What a producer left is given to another: `by` ends the turn; null: it may be run by any. */
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

  /** Whether it was: a producer that has stated something of the turn since it was read is alive. Other events of the conversation say nothing of that. */
  async execute({ conversationId, turnId, from, by, cause, known }: TakeTurnFrom): Promise<boolean> {
    const turn = known.state.turns.get(turnId);
    const decide = by === null ? requeue(turnId, from!) : takeOver(turnId, from, by);
    const unlessChanged: Decide = (state) =>
      state.turns.get(turnId) === turn && state.status === known.state.status ? decide(state) : [];
    const stream = conversationStream(conversationId);
    return (await this.streams.transact(stream, conversation, unlessChanged, cause, known)).events.length > 0;
  }
}

/** A turn has ended, as its producer says. */
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

/** All frames of a turn are in its journal: nothing is shown of it any more. */
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

/** The commands of the processes that run turns. */
export const TURN_HANDLERS = [ClaimTurnHandler, TakeTurnFromHandler, ConcludeTurnHandler, SealTurnHandler] as const;
