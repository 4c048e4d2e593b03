import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { asOwner, conversation, remove } from './conversation.decider.js';
import { conversationStream } from './conversation.events.js';

/** The owner wants the conversation gone: nobody reads it from here on, and what runs in it stops. */
export class DeleteConversation extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteConversation)
export class DeleteConversationHandler implements ICommandHandler<DeleteConversation> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, ownerId, cause }: DeleteConversation): Promise<bigint | undefined> {
    const decide = asOwner(ownerId, remove);
    return (await this.streams.transact(conversationStream(conversationId), conversation, decide, cause)).position;
  }
}
