import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { asOwner, conversation, rename } from './conversation.decider.js';
import { conversationStream } from './conversation.events.js';

/** The owner gives the conversation a name of their own. */
export class RenameConversation extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly name: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RenameConversation)
export class RenameConversationHandler implements ICommandHandler<RenameConversation> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, ownerId, name, cause }: RenameConversation): Promise<bigint | undefined> {
    const decide = asOwner(ownerId, rename(name));
    return (await this.streams.transact(conversationStream(conversationId), conversation, decide, cause)).position;
  }
}
