import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Commands } from '../../kernel/commands.js';
import {
  ConversationQueries,
  type ListedConversation,
  type ListingCursor,
  type WholeConversation,
} from '../../../projections/conversations/conversations.queries.js';
import { ConversationSearchQueries } from '../../../projections/conversations/conversation-search.queries.js';
import { type Caller, onlookerOf, type SignedInUser } from '../../resources/identity/caller.js';
import { may } from '../../resources/identity/access.policy.js';
import { CurrentUser, KnownCaller } from '../../resources/identity/identity.http.js';
import { EventStore, lastEvent } from '../../kernel/event-sourcing/event-store.js';
import { Fingerprints } from '../../kernel/event-sourcing/fingerprints.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { isId } from '../../kernel/ids.js';
import { linkTokenOf } from '../../kernel/event-sourcing/link-tokens.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { Rejection } from '../../kernel/rejection.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { answerPosition } from '../../platform/http/positions.js';
import { momentIn } from '../../platform/http/moments.js';
import { BEGINNING_EVENTS_MAX } from './conversation-access.policy.js';
import { conversation } from './conversation.decider.js';
import { conversationStream } from './conversation.events.js';
import { ConversationName, Feedback } from './conversations.dto.js';
import { DeleteConversation, OpenConversation, RateAnswer, RenameConversation } from './conversation.commands.js';
import { DocumentedBody, OptionalQuery, RequiredQuery, type Sent } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Json, jsonOf, sendJson } from '../../platform/http/json-in-pages.js';
import { FAMILIES } from '../../kernel/access.js';

/** The read model of these routes. */
const READ = ['conversations'];
const LISTING_DEFAULT = 30;
const LISTING_MAX = 100;
/** Number of conversations that a request deletes concurrently, so that the store commits their deletions together. */
const DELETED_AT_ONCE_MAX = 32;

/** A conversation as its owner sees it, with the token of its newest active link. */
type WithLink<T extends Pick<ListedConversation, 'shareId'>> = Omit<T, 'shareId'> & Readonly<{ shared_token: string | null }>;

const notFound = () => new Rejection('conversation-not-found', 'Conversation not found');

/** The conversations of a user: the list for the sidebar, a whole conversation, and its operations. */
@ApiTags('Conversations')
@Controller('api')
export class ConversationsController {
  constructor(
    private readonly conversations: ConversationQueries,
    private readonly searched: ConversationSearchQueries,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly fingerprints: Fingerprints,
  ) {}

  @ApiOperation({
    summary: 'The listed conversations, newest first. The query parameters before and before_id select the next page.',
  })
  @OptionalQuery('limit', 'before', 'before_id')
  @Access({ for: 'user', action: 'list', of: 'conversations', scopes: ['conversations:read'], closedToRestricted: FAMILIES })
  @Get('get_conversations')
  async list(
    @CurrentUser() { userId }: SignedInUser,
    @Res() reply: FastifyReply,
    @Query('limit') limit?: string,
    @Query('before') before?: string,
    @Query('before_id') beforeId?: string,
  ): Promise<Sent<readonly WithLink<ListedConversation>[]>> {
    const page = [limitOf(limit), cursorOf(before, beforeId)] as const;
    await this.freshness.reached(READ, this.lastWrites.of(userId));
    const json = await this.conversations.whileUnchanged(['list', userId, ...page], async () => {
      const listed = await this.conversations.listed(userId, ...page);
      return JSON.stringify(listed.map((each) => this.inListing(each)));
    });
    await sendJson(reply, json);
  }

  @ApiOperation({ summary: 'Listed conversations with a text in their name, questions or answers' })
  @RequiredQuery('q')
  @OptionalQuery('limit')
  @Access({ for: 'user', action: 'search', of: 'conversations', scopes: ['conversations:read'], closedToRestricted: FAMILIES })
  @Get('search_conversations')
  async search(@CurrentUser() user: SignedInUser, @Query('q') q?: string, @Query('limit') limit?: string) {
    const text = q?.trim();
    if (!text) throw new Rejection('invalid-request', 'q is required');
    await this.freshness.reached(READ, this.lastWrites.of(user.userId));
    const found = await this.searched.search(user.userId, text, limitOf(limit));
    return found.map((each) => this.withLink(each));
  }

  @ApiOperation({ summary: 'One conversation with all its questions and answers. The request opens it, which clears its mark.' })
  @Access({ for: 'user', action: 'read', of: 'conversations', scopes: ['conversations:read'], closedToRestricted: FAMILIES })
  @Get('get_single_conversation')
  async single(
    @CurrentUser() user: SignedInUser,
    @Res() reply: FastifyReply,
    @Query('id') id?: string,
  ): Promise<Sent<WithLink<WholeConversation>>> {
    if (!id) throw new Rejection('invalid-request', 'ID is required');
    if (!isId(id)) throw notFound();
    // Waits for the current end of the stream, so that a client that has seen the end of an answer finds it here, in any process.
    await this.freshness.reached(READ, onlookerOf(user) ? await this.openedAt(user, id) : await this.joinedAt(user, id));
    const found = await this.conversations.whileUnchanged(['whole', user.userId, id], () => this.whole(user.userId, id));
    if (found === undefined) throw notFound();
    await sendJson(reply, found);
  }

  @ApiOperation({ summary: 'Rename a conversation' })
  @DocumentedBody({ type: ConversationName }, { id: '00000000-0000-4000-8000-000000000000', name: 'Opening hours' })
  @Access({ for: 'user', action: 'change', of: 'conversations', scopes: ['conversations:write'], closedToRestricted: FAMILIES })
  @Post('update_conversation_name')
  @HttpCode(200)
  async rename(
    @CurrentUser() user: SignedInUser,
    @Body() { id, name }: ConversationName,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.confirmWrite(
      reply,
      await this.commands.execute(new RenameConversation(checked(id), user.userId, name, user.cause)),
    );
  }

  @ApiOperation({
    summary: 'Delete a conversation',
    description:
      'Ends access at once. The next run of retention (RETENTION_EVERY_SECONDS) deletes the texts from the log; the usage is kept.',
  })
  @RequiredQuery('id')
  @Access({ for: 'user', action: 'delete', of: 'conversations', scopes: ['conversations:write'], closedToRestricted: FAMILIES })
  @Post('delete_conversation')
  @HttpCode(200)
  async delete(
    @CurrentUser() user: SignedInUser,
    @Query('id') id: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if (!id) throw new Rejection('invalid-request', 'ID is required');
    return this.confirmWrite(reply, await this.commands.execute(new DeleteConversation(checked(id), user.userId, user.cause)));
  }

  @ApiOperation({ summary: 'Deletes all listed conversations, for older clients' })
  @Access({ for: 'user', action: 'delete', of: 'conversations', scopes: ['conversations:write'], closedToRestricted: FAMILIES })
  @Get('delete_all_conversations')
  async deleteAllByGet(@CurrentUser() user: SignedInUser, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.deleteAll(user, reply);
  }

  @ApiOperation({ summary: 'Deletes all listed conversations' })
  @Access({ for: 'user', action: 'delete', of: 'conversations', scopes: ['conversations:write'], closedToRestricted: FAMILIES })
  @Delete('delete_all_conversations')
  async deleteAll(@CurrentUser() user: SignedInUser, @Res({ passthrough: true }) reply: FastifyReply) {
    await this.freshness.reached(READ, this.lastWrites.of(user.userId));
    const ids = await this.conversations.listedIds(user.userId);
    let newest: bigint | undefined;
    for (let at = 0; at < ids.length; at += DELETED_AT_ONCE_MAX) {
      const some = ids.slice(at, at + DELETED_AT_ONCE_MAX).map((id) => new DeleteConversation(id, user.userId, user.cause));
      for (const position of await Promise.all(some.map((command) => this.commands.execute(command))))
        if (position !== undefined && (newest === undefined || position > newest)) newest = position;
    }
    return this.confirmWrite(reply, newest);
  }

  @ApiOperation({ summary: 'Open a conversation, which clears its mark' })
  @Access({ for: 'user', action: 'change', of: 'conversations' })
  @Post('conversations/:id/read')
  @HttpCode(200)
  async read(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply) {
    const { position, cleared } = await this.commands.execute(new OpenConversation(checked(id), user.userId, user.cause));
    return { ...(await this.confirmWrite(reply, position)), cleared };
  }

  @ApiOperation({ summary: 'Rate an answer, or remove its rating' })
  @DocumentedBody(
    { type: Feedback },
    { conversation_id: '00000000-0000-4000-8000-000000000000', question_index: 0, feedback: 'like' },
  )
  @Access({ for: 'caller', action: 'change', of: 'conversations', scopes: ['conversations:write'], closedToRestricted: FAMILIES })
  @Post('feedback')
  @HttpCode(200)
  async rate(@KnownCaller() caller: Caller, @Body() body: Feedback, @Res({ passthrough: true }) reply: FastifyReply) {
    const feedback = body.feedback?.toLowerCase() ?? null;
    const command = new RateAnswer(checked(body.conversation_id), caller, body.question_index, feedback);
    return this.confirmWrite(reply, await this.commands.execute(command));
  }

  /** A conversation of this user with its turns. Undefined if it belongs to another user or does not exist. */
  private async whole(userId: string, id: string): Promise<Json | undefined> {
    const found = await this.conversations.withTurns(userId, id);
    if (!found) return undefined;
    const { pages, ...whole } = found;
    return jsonOf(this.withLink(whole), 'queries', pages);
  }

  /** Opens a conversation and returns the position of its last event. @throws Rejection conversation-not-found */
  private async openedAt(user: SignedInUser, id: string): Promise<bigint | undefined> {
    const { position } = await this.commands.execute(new OpenConversation(id, user.userId, user.cause));
    this.lastWrites.note(user.userId, position);
    return position;
  }

  /** The position of the last event of a conversation. @throws Rejection conversation-not-found */
  private async joinedAt(user: SignedInUser, id: string): Promise<bigint | undefined> {
    const stream = conversationStream(id);
    const { state: began } = await this.streams.beginning(stream, conversation, BEGINNING_EVENTS_MAX);
    if (!may(user, { does: 'join', conversation: began })) throw notFound();
    return (await lastEvent(this.store, stream))?.position;
  }

  /** As `withLink`, without a copy of unnamed fields, which takes longer than the rest of a listing. */
  private inListing(listed: ListedConversation): WithLink<ListedConversation> {
    const { id, name, agent_id, is_shared_usage, date, unread, mark, shareId } = listed;
    return { id, name, agent_id, is_shared_usage, date, unread, mark, shared_token: this.tokenOf(shareId) };
  }

  /** Adds the token of the newest active link for the owner. */
  private withLink<T extends Pick<ListedConversation, 'shareId'>>({ shareId, ...shown }: T): WithLink<T> {
    return { ...shown, shared_token: this.tokenOf(shareId) };
  }

  private tokenOf(shareId: string | null): string | null {
    return shareId === null ? null : linkTokenOf(this.fingerprints, 'conversation-link', shareId);
  }

  private async confirmWrite(reply: FastifyReply, position: bigint | undefined): Promise<{ success: true }> {
    await this.freshness.reached(READ, position);
    answerPosition(reply, position);
    return { success: true };
  }
}

function checked(id: string): string {
  if (!isId(id)) throw notFound();
  return id;
}

/** Parses a limit. As clients expect, a value that is not a number is ignored. */
function limitOf(text: string | undefined): number {
  const limit = Number(text);
  return !text?.trim() || !Number.isInteger(limit) ? LISTING_DEFAULT : Math.min(LISTING_MAX, Math.max(1, limit));
}

function cursorOf(before: string | undefined, beforeId: string | undefined): ListingCursor | undefined {
  if (!before) return undefined;
  return { before: momentIn('before', before), beforeId: beforeId !== undefined && isId(beforeId) ? beforeId : undefined };
}
