import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { conversation } from './conversation.decider.js';
import { conversationStream, type TurnAsked, type TurnOrigin } from './conversation.events.js';
import type { Conversation } from './turn.policy.js';
import { askAutomatically, statusOf, type AutomaticTurnStatus } from './automatic-turn.decider.js';

/** Starts an automatic turn in a conversation, if that is allowed now. */
export class AskAutomaticTurn extends Command<AutomaticTurnStatus> {
  constructor(
    readonly question: Omit<TurnAsked['data'], 'index' | 'origin'> & Readonly<{ origin: TurnOrigin }>,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly known: Folded<Conversation>,
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
    const decide = askAutomatically(question, ownerId);
    const { state, events } = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause, known);
    if (events.length > 0) return 'free';
    const status = statusOf(state, ownerId, turnId);
    return status === 'free' ? 'busy' : status;
  }
}
