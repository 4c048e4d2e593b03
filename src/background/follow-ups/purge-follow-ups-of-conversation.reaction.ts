import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { conversationCodec } from '../../dialogue/conversation/conversation.codec.js';
import type { ConversationPurged } from '../../dialogue/conversation/conversation.events.js';
import { ExpireFollowUps } from './expired-follow-ups.commands.js';

/** The latest possible date, so that the time at which the follow-ups ended does not matter. */
const ANY_TIME = new Date(8_640_000_000_000_000);

/**
 * Purges the follow-ups of a purged conversation, because they contain texts for it. One step; after a crash before the
 * checkpoint it is repeated without effect. The retention rule purges a follow-up that has not ended yet.
 */
@Injectable()
export class PurgeFollowUpsOfConversation implements Reaction<ConversationPurged> {
  readonly name = 'purge-follow-ups-of-conversation';
  readonly categories = ['conversation'];
  readonly codec: Codec<ConversationPurged> = conversationCodec;
  readonly on = { ConversationPurged: (event: Recorded<ConversationPurged>) => this.purge(event) };

  constructor(private readonly commands: Commands) {}

  private purge(event: Recorded<ConversationPurged>): Promise<void> {
    const cause = causedBy(event, `system:${this.name}`);
    return this.commands.execute(new ExpireFollowUps(event.data.conversationId, ANY_TIME, cause));
  }
}
