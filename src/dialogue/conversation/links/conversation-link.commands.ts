import { createHash } from 'node:crypto';
import { CommandHandler } from '@nestjs/cqrs';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Fingerprints } from '../../../kernel/event-sourcing/fingerprints.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Ids } from '../../../kernel/ids.js';
import { linkTokenOf } from '../conversation-access.policy.js';
import { asOwner, conversation, endLink, shareByLink } from '../conversation.decider.js';
import { conversationStream } from '../conversation.events.js';

export const linkTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

/** The owner shares a conversation as it is now. */
export class ShareConversation extends Command<Readonly<{ token: string; position: bigint | undefined }>> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ShareConversation)
export class ShareConversationHandler implements Handler<ShareConversation> {
  constructor(
    private readonly streams: Streams,
    private readonly conversations: ConversationQueries,
    private readonly fingerprints: Fingerprints,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** @throws Rejection conversation-not-found */
  async execute({ conversationId, ownerId, cause }: ShareConversation) {
    const shareId = this.ids.next();
    const token = linkTokenOf(this.fingerprints, shareId);
    const turnIds = await this.conversations.endedTurns(conversationId);
    const link = { shareId, tokenHash: linkTokenHash(token), turnIds, sharedAt: this.clock.now().toISOString() };
    const decide = asOwner(ownerId, shareByLink(link));
    const { position } = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause);
    return { token, position };
  }
}

/** The owner ends a link. */
export class EndConversationLink extends Command<bigint | undefined> {
  constructor(
    readonly link: Readonly<{ conversationId: string; shareId: string }>,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(EndConversationLink)
export class EndConversationLinkHandler implements Handler<EndConversationLink> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ link: { conversationId, shareId }, ownerId, cause }: EndConversationLink): Promise<bigint | undefined> {
    const decide = asOwner(ownerId, endLink(shareId, this.clock.now()));
    return (await this.streams.transact(conversationStream(conversationId), conversation, decide, cause)).position;
  }
}
