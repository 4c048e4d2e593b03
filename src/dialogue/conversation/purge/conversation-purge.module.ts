import { Module } from '@nestjs/common';
import { conversationPurges } from './conversation.purges.js';
import { PurgeConversationHandler } from './purge.commands.js';

/** What is stated of deleted conversations before their texts go. */
@Module({ providers: [PurgeConversationHandler] })
export class ConversationPurgeModule {
  static readonly purges = conversationPurges;
}
