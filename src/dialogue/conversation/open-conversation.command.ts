import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { asOwner, conversation, open } from './conversation.decider.js';
import { conversationStream } from './conversation.events.js';

/** The owner looks at the conversation, which clears the marks that looking clears. */
export class OpenConversation extends Command<{ position: bigint | undefined; cleared: boolean }> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(OpenConversation)
export class OpenConversationHandler implements ICommandHandler<OpenConversation> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, ownerId, cause }: OpenConversation) {
    const decide = asOwner(ownerId, open);
    const { events, position } = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause);
    return { position, cleared: events.length > 0 };
  }
}
