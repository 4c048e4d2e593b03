import { Module } from '@nestjs/common';
import { conversationPurges } from './conversation.purges.js';
import { PurgeConversationHandler } from './purge.commands.js';

/** The command that records the purge of deleted conversations before their texts are deleted. */
@Module({ providers: [PurgeConversationHandler] })
export class ConversationPurgeModule {
  static readonly purges = conversationPurges;
}
