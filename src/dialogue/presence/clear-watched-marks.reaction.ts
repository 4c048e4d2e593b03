import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { Commands } from '../../kernel/commands.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { Rejection } from '../../kernel/rejection.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import { OpenConversation } from '../conversation/conversation.commands.js';
import type { ConversationEvent } from '../conversation/conversation.events.js';
import { WatchedConversations } from './watched-conversations.js';

type Arrived = Recorded<Extract<ConversationEvent, { type: 'TurnSealed' | 'TurnAppended' | 'BackgroundWorkNoted' }>>;

/**
 * Clears the marks of a conversation that its owner is viewing. It (1) looks the viewer up and (2) records that the conversation
 * was opened, which does nothing if there is no mark. A crash repeats both steps.
 */
@Injectable()
export class ClearWatchedMarks implements Reaction<ConversationEvent> {
  readonly name = 'clear-watched-marks';
  readonly categories = ['conversation'];
  readonly codec: Codec<ConversationEvent> = conversationCodec;
  readonly begins = 'now';
  readonly on: Reaction<ConversationEvent>['on'] = {
    TurnSealed: (event) => this.clear(event),
    TurnAppended: (event) => this.clear(event),
    BackgroundWorkNoted: (event) => this.clear(event),
  };

  constructor(
    private readonly watched: WatchedConversations,
    private readonly commands: Commands,
  ) {}

  private async clear(event: Arrived): Promise<void> {
    const { conversationId } = event.data;
    const userId = await this.watcherOf(conversationId);
    if (userId === undefined) return;
    try {
      await this.commands.execute(new OpenConversation(conversationId, userId, causedBy(event, `system:${this.name}`)));
    } catch (error) {
      // The conversation was deleted meanwhile.
      if (!(error instanceof Rejection)) throw error;
    }
  }

  private async watcherOf(conversationId: string): Promise<string | undefined> {
    try {
      return await this.watched.watcherOf(conversationId);
    } catch (error) {
      // The mark stays until the conversation is opened.
      if (error instanceof KeyValueUnavailable) return undefined;
      throw error;
    }
  }
}
