import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { conversationCodec } from '../../dialogue/conversation/conversation.codec.js';
import type { ConversationPurged } from '../../dialogue/conversation/conversation.events.js';
import { ExpireFollowUps } from './expired-follow-ups.commands.js';

/** Whenever they ended. */
const ANY_TIME = new Date(8_640_000_000_000_000);

/**
 * Follow-ups go with a conversation that is purged: they say what it was to hear. One step; a crash before the checkpoint repeats it,
 * and each expires once. One that has not ended yet goes once it is old.
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
