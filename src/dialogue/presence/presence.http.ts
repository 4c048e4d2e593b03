import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { parseBoundedJson } from '../../kernel/bounded-json.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { may } from '../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { WatchedConversations } from './watched-conversations.js';

const TAB_ID = /^[\w.:-]{1,64}$/;
const REPORT = {
  type: 'object',
  required: ['tab_id', 'visible'],
  properties: {
    tab_id: { type: 'string', pattern: '^[A-Za-z0-9_.:-]{1,64}$' },
    conversation_id: { type: 'string', nullable: true },
    visible: { type: 'boolean' },
    closing: { type: 'boolean', description: 'The tab is about to close.' },
  },
};
const EXAMPLE = { tab_id: 'tab-1', conversation_id: null, visible: true };
const REPORTED = {
  schema: {
    type: 'object',
    properties: { success: { type: 'boolean' }, stored: { type: 'boolean', description: 'The tab counts as watching.' } },
  },
};

type Report = Readonly<{ tabId: string; conversationId: string | null; isWatching: boolean }>;

/** The route by which a tab reports the conversation that it shows. */
@ApiTags('Notifications')
@Controller('api')
export class PresenceController {
  constructor(
    private readonly watched: WatchedConversations,
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
  ) {}

  @Access({ for: 'user', action: 'change', of: 'presence' })
  @Post('presence')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Report the conversation that a tab shows, for 45 seconds',
    description: 'New answers in a conversation that a visible tab shows are not marked as unread.',
  })
  @ApiConsumes('application/json', 'text/plain')
  @DocumentedBody({ schema: REPORT }, EXAMPLE)
  @ApiOkResponse(REPORTED)
  async report(@CurrentUser() user: SignedInUser, @Body() body: unknown) {
    const { tabId, conversationId, isWatching } = reportIn(body);
    // A tab may report a conversation right after it was started.
    if (conversationId !== null) await this.freshness.reached(['conversations'], this.lastWrites.of(user.userId));
    const shown = conversationId === null ? undefined : await this.conversations.beginningOf(conversationId);
    if (conversationId === null || !shown || !may(user, { does: 'join', conversation: shown }))
      return { success: true, stored: false };
    await this.watched.report(conversationId, user.userId, tabId, isWatching);
    return { success: true, stored: isWatching };
  }
}

/** Parses a report. A beacon of a closing page is sent as plain text. @throws Rejection invalid-request */
function reportIn(body: unknown): Report {
  const given = typeof body === 'string' ? parsed(body) : body;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Rejection('invalid-request', 'A JSON body is required');
  const { tab_id: tabId, conversation_id: id = null, visible, closing = false } = given as Readonly<Record<string, unknown>>;
  if (typeof tabId !== 'string' || !TAB_ID.test(tabId)) throw new Rejection('invalid-request', 'tab_id is required');
  if (id !== null && !isId(id)) throw new Rejection('invalid-request', 'conversation_id must be a conversation id or null');
  if (typeof visible !== 'boolean' || typeof closing !== 'boolean')
    throw new Rejection('invalid-request', 'visible and closing must be booleans');
  return { tabId, conversationId: id, isWatching: visible && !closing };
}

function parsed(text: string): unknown {
  try {
    return parseBoundedJson(text, 'body');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
