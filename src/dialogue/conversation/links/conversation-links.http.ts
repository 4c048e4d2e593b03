import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { EventStore, lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../../kernel/event-sourcing/freshness.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody, RequiredQuery } from '../../../platform/http/documented.js';
import { answerPosition } from '../../../platform/http/positions.js';
import { reached } from '../../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../../resources/identity/caller.js';
import { CurrentUser } from '../../../resources/identity/identity.http.js';
import { conversationStream } from '../conversation.events.js';
import { EndConversationLink, linkTokenHash, ShareConversation } from './conversation-link.commands.js';

/** The read model behind these routes. */
const READ = ['conversations'];
const TOKEN = /^[0-9a-f]{64}$/;

export class SharedConversation {
  @IsString() @IsNotEmpty() conversation_id!: string;
}

/** Links that show a conversation to everybody who has them. */
@ApiTags('Conversations')
@Controller('api')
export class ConversationLinksController {
  constructor(
    private readonly commands: Commands,
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
    private readonly store: EventStore,
  ) {}

  @ApiOperation({
    summary:
      'Makes a link that shows the answers of a conversation as they are now. Links whose readers may go on asking are not built',
  })
  @ApiQuery({ name: 'isPromptable', enum: ['false', 'true'] })
  @DocumentedBody({ type: SharedConversation }, { conversation_id: '00000000-0000-4000-8000-000000000000' })
  @Access({ for: 'user', action: 'change', of: 'conversations', at: { in: 'body', name: 'conversation_id' } })
  @Post('share')
  @HttpCode(201)
  async share(
    @CurrentUser() user: SignedInUser,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { conversation_id: id }: SharedConversation,
    @Query('isPromptable') isPromptable?: string,
  ) {
    if (isPromptable === undefined || isPromptable === '') throw new Rejection('invalid-request', 'isPromptable is required');
    if (isPromptable === 'true') throw new Rejection('link-not-built', 'Links whose readers may go on asking are not built');
    if (isPromptable !== 'false') throw new Rejection('invalid-request', 'isPromptable must be true or false');
    if (!isId(id)) throw conversationNotFound();
    await this.freshness.reached(READ, (await lastEvent(this.store, conversationStream(id)))?.position);
    const { token, position } = await this.commands.execute(new ShareConversation(id, user.userId, user.cause));
    await this.settled(reply, position);
    return { success: true, identifier: token };
  }

  @ApiOperation({ summary: 'What a link shows: the answers as they were when it was made' })
  @Access({ for: 'capability', action: 'read', of: 'shared conversations' })
  @Get('shared_conversation/:identifier')
  async shared(@Param('identifier') identifier: string) {
    const found = TOKEN.test(identifier) ? await this.conversations.shared(linkTokenHash(identifier)) : undefined;
    if (!found) throw linkNotFound();
    return { success: true, ...found };
  }

  @ApiOperation({ summary: 'Ends a link' })
  @RequiredQuery('identifier')
  @Access({ for: 'user', action: 'change', of: 'shared conversations', at: { in: 'query', name: 'identifier' } })
  @Delete('share')
  async end(
    @CurrentUser() user: SignedInUser,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Query('identifier') identifier?: string,
  ) {
    if (!identifier) throw new Rejection('invalid-request', 'identifier is required');
    const found = TOKEN.test(identifier) ? await this.conversations.shareByHash(linkTokenHash(identifier)) : undefined;
    const link = reached(user, found, linkNotFound);
    await this.settled(reply, await this.commands.execute(new EndConversationLink(link, user.userId, user.cause)));
    return { success: true };
  }

  /** The caller's next read shows what was written, wherever it is answered. */
  private async settled(reply: FastifyReply, position: bigint | undefined): Promise<void> {
    answerPosition(reply, position);
    await this.freshness.reached(READ, position);
  }
}

const conversationNotFound = () => new Rejection('conversation-not-found', 'Conversation not found');

const BROKEN = 'might have broken url or the conversation does not exist';
const linkNotFound = () => new Rejection('link-not-found', BROKEN, { error: BROKEN });
