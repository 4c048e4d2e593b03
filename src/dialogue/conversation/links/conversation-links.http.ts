import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsNotEmpty, IsOptional, IsString, Max, Min } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import type { SharedRecord } from '../../../../projections/conversations/turn-records.js';
import { Commands } from '../../../kernel/commands.js';
import { EventStore, lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../../kernel/event-sourcing/freshness.js';
import { isId } from '../../../kernel/ids.js';
import { isLinkToken, linkTokenHash } from '../../../kernel/event-sourcing/link-tokens.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody, RequiredQuery, Integer, type Sent } from '../../../platform/http/documented.js';
import { jsonOf, sendJson } from '../../../platform/http/json-in-pages.js';
import { answerPosition } from '../../../platform/http/positions.js';
import { reached } from '../../../resources/identity/access.policy.js';
import { CHUNKS_MAX } from '../../../resources/sources/source/retrieval.policy.js';
import type { SignedInUser } from '../../../resources/identity/caller.js';
import { CurrentUser } from '../../../resources/identity/identity.http.js';
import { conversationStream } from '../conversation.events.js';
import { EndConversationLink, ShareConversation } from './conversation-link.commands.js';
import { LinkTermsOf, type WantedTerms } from './link-terms.js';

/** The read model of these routes. */
const READ = ['conversations'];

export class SharedConversation {
  @IsString() @IsNotEmpty() conversation_id!: string;

  /** With `isPromptable=true`: the prompt for questions of readers. Used only if no agent answers. */
  @IsOptional() @IsString() prompt_id?: string | null;

  /** With `isPromptable=true`: the source for questions of readers; `default` means none. Used only if no agent answers. */
  @IsOptional() @IsString() source?: string | null;

  /** With `isPromptable=true`: the number of chunks that are read from the source. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value))
  @Integer()
  @Min(0)
  @Max(CHUNKS_MAX)
  chunks?: number | null;
}

type ShownConversation = Readonly<{
  success: boolean;
  title: string;
  timestamp: Date;
  queries: readonly SharedRecord[];
  api_key?: string;
}>;

/** Routes of links that show a conversation to everyone who has the link. */
@ApiTags('Conversations')
@Controller('api')
export class ConversationLinksController {
  constructor(
    private readonly commands: Commands,
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
    private readonly store: EventStore,
    private readonly terms: LinkTermsOf,
  ) {}

  @ApiOperation({
    summary:
      'Creates a link that shows the current answers of a conversation; with `isPromptable=true` its readers may ask questions',
    description:
      'Readers of a promptable link ask with its token as `api_key`, in separate conversations, without tools, and within ' +
      "SHARED_LINK_MAX_REQUESTS_PER_DAY and SHARED_LINK_MAX_TOKENS_PER_DAY. The agent of the conversation answers them, if it is the owner's own.",
  })
  @ApiResponse({ status: 201, description: 'The link; `identifier` is its token.' })
  @ApiResponse({ status: 200, description: 'A promptable link with the same settings exists and is returned.' })
  @ApiResponse({ status: 404, description: 'The user has no such conversation, or no such prompt or source.' })
  @ApiQuery({ name: 'isPromptable', enum: ['false', 'true'] })
  @DocumentedBody({ type: SharedConversation }, { conversation_id: '00000000-0000-4000-8000-000000000000' })
  @Access({ for: 'user', action: 'change', of: 'conversations', at: { in: 'body', name: 'conversation_id' } })
  @Post('share')
  @HttpCode(201)
  async share(
    @CurrentUser() user: SignedInUser,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: SharedConversation,
    @Query('isPromptable') isPromptable?: string,
  ) {
    if (isPromptable === undefined || isPromptable === '') throw new Rejection('invalid-request', 'isPromptable is required');
    if (isPromptable !== 'false' && isPromptable !== 'true')
      throw new Rejection('invalid-request', 'isPromptable must be true or false');
    const { conversation_id: id } = body;
    if (!isId(id)) throw conversationNotFound();
    await this.freshness.reached(READ, (await lastEvent(this.store, conversationStream(id)))?.position);
    const terms = isPromptable === 'true' ? await this.terms.conversation(id, user.userId, wantedIn(body)) : undefined;
    const { token, isNew, position } = await this.commands.execute(new ShareConversation(id, user.userId, terms, user.cause));
    await this.confirmWrite(reply, position);
    if (!isNew) reply.status(200);
    return { success: true, identifier: token };
  }

  @ApiOperation({
    summary: 'The answers that a link shows, as of its creation; with `api_key` readers may ask at `/stream` and `/api/answer`',
  })
  @ApiResponse({ status: 404, description: 'The link has ended, its conversation was deleted, or no such link existed.' })
  @Access({ for: 'capability', action: 'read', of: 'shared conversations' })
  @Get('shared_conversation/:identifier')
  async shared(@Param('identifier') identifier: string, @Res() reply: FastifyReply): Promise<Sent<ShownConversation>> {
    const found = isLinkToken(identifier) ? await this.conversations.shared(linkTokenHash(identifier)) : undefined;
    if (!found) throw linkNotFound();
    const { mayAsk, record, pages } = found;
    const body = { success: true, ...record, ...(mayAsk && { api_key: identifier }) };
    await sendJson(reply, jsonOf(body, 'queries', pages));
  }

  @ApiOperation({ summary: 'Ends a link' })
  @ApiResponse({ status: 404, description: 'The user has no such link.' })
  @RequiredQuery('identifier')
  @Access({ for: 'user', action: 'change', of: 'shared conversations', at: { in: 'query', name: 'identifier' } })
  @Delete('share')
  async end(
    @CurrentUser() user: SignedInUser,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Query('identifier') identifier?: string,
  ) {
    if (!identifier) throw new Rejection('invalid-request', 'identifier is required');
    const found = isLinkToken(identifier) ? await this.conversations.shareByHash(linkTokenHash(identifier)) : undefined;
    const link = reached(user, found, linkNotFound);
    await this.confirmWrite(reply, await this.commands.execute(new EndConversationLink(link, user.userId, user.cause)));
    return { success: true };
  }

  /** Waits for the read model and sends the position, so that the caller's next read in any process includes the write. */
  private async confirmWrite(reply: FastifyReply, position: bigint | undefined): Promise<void> {
    answerPosition(reply, position);
    await this.freshness.reached(READ, position);
  }
}

/** The terms of a request. Clients send `default` for no source. */
const wantedIn = ({ prompt_id: promptId, source, chunks }: SharedConversation): WantedTerms => ({
  promptId: promptId ?? '',
  sourceId: source && source !== 'default' ? source : '',
  chunks: chunks ?? undefined,
});

const conversationNotFound = () => new Rejection('conversation-not-found', 'Conversation not found');

const BROKEN = 'might have broken url or the conversation does not exist';
const linkNotFound = () => new Rejection('link-not-found', BROKEN, { error: BROKEN });
