import { CommandHandler } from '@nestjs/cqrs';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Fingerprints } from '../../../kernel/event-sourcing/fingerprints.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Ids } from '../../../kernel/ids.js';
import { linkTokenHash, linkTokenOf } from '../../../kernel/event-sourcing/link-tokens.js';
import { sameJson } from '../../../kernel/same-json.js';
import type { LinkTerms } from '../../../resources/identity/links/asking-links.port.js';
import { asOwner, conversation, endLink, shareByLink } from '../conversation.decider.js';
import { conversationStream } from '../conversation.events.js';

/** A link for an owner. `isNew` is false if an earlier link shows the same. */
export type GivenLink = Readonly<{ token: string; isNew: boolean; position: bigint | undefined }>;

/** The owner shares the current turns of a conversation. With `terms`, readers of the link may ask questions. */
export class ShareConversation extends Command<GivenLink> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly terms: LinkTerms | undefined,
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
  async execute({ conversationId, ownerId, terms, cause }: ShareConversation): Promise<GivenLink> {
    const turnIds = await this.conversations.endedTurns(conversationId);
    const open = terms && (await this.conversations.newestAskingShare(conversationId, ownerId));
    if (open && sameJson([open.turnIds, open.terms], [turnIds, terms]))
      return { token: this.tokenOf(open.shareId), isNew: false, position: undefined };
    const shareId = this.ids.next();
    const token = this.tokenOf(shareId);
    const link = {
      shareId,
      tokenHash: linkTokenHash(token),
      turnIds,
      sharedAt: this.clock.now().toISOString(),
      ...(terms && { terms }),
    };
    const decide = asOwner(ownerId, shareByLink(link));
    const { position } = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause);
    return { token, isNew: true, position };
  }

  private tokenOf(shareId: string): string {
    return linkTokenOf(this.fingerprints, 'conversation-link', shareId);
  }
}

/** The owner revokes a link. */
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
