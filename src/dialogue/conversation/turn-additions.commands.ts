import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { conversation } from './conversation.decider.js';
import { conversationStream, type TurnAppended } from './conversation.events.js';
import { append } from './turn-additions.decider.js';
import type { Conversation } from './turn.policy.js';

/** A turn that came about elsewhere, and whose journal is written, is the last of its owner's conversation. */
export class AppendTurn extends Command<Conversation> {
  constructor(
    readonly turn: Omit<TurnAppended['data'], 'index'>,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly known: Folded<Conversation>,
  ) {
    super();
  }
}

@CommandHandler(AppendTurn)
export class AppendTurnHandler implements Handler<AppendTurn> {
  constructor(private readonly streams: Streams) {}

  async execute({ turn, ownerId, cause, known }: AppendTurn): Promise<Conversation> {
    const stream = conversationStream(turn.conversationId);
    return (await this.streams.transact(stream, conversation, append(turn, ownerId), cause, known)).state;
  }
}
