import { Injectable } from '@nestjs/common';
import type { Sql } from 'postgres';
import type {
  AttachedFile,
  PendingCall,
  StoppedByGuardrail,
  TurnOrigin,
} from '../../src/dialogue/conversation/conversation.events.js';
import type { EarlierTurn } from '../../src/dialogue/conversation/earlier-turns.port.js';
import type { Mark } from '../../src/dialogue/conversation/conversation-mark.policy.js';
import type { Beginning } from '../../src/resources/identity/access.policy.js';
import { recordOf, withToolCalls } from '../../src/dialogue/conversation/tool-call.policy.js';
import type { LinkTerms } from '../../src/resources/identity/links/asking-links.port.js';
import { ReadModels } from '../read-models.js';

/** A conversation as the sidebar lists it. */
export type ListedConversation = Readonly<{
  id: string;
  name: string;
  agent_id: string | null;
  is_shared_usage: boolean;
  /** The newest link that has not ended. */
  shareId: string | null;
  date: Date;
  /** Something has come that the owner has not opened yet. */
  unread: boolean;
  /** The most urgent of what there is to say. */
  mark: Mark | null;
}>;

/** Where a page of the listing begins: after the conversation that began then. */
export type ListingCursor = Readonly<{ before: Date; beforeId: string | undefined }>;

type TurnRow = Readonly<{
  turn_id: string;
  status: 'asked' | 'running' | 'paused' | 'answered' | 'failed' | 'stopped';
  question: string;
  response: string;
  thought: string;
  sources: unknown;
  tool_calls: readonly Readonly<Record<string, unknown>>[];
  pending: readonly PendingCall[];
  structured: boolean;
  origin: TurnOrigin | null;
  attachments: readonly AttachedFile[];
  error: string | null;
  guardrail: StoppedByGuardrail | null;
  request_id: string;
  model_id: string;
  feedback: string | null;
  feedback_at: Date | null;
  asked_at: Date;
  changed_at: Date;
}>;

type WholeRow = Readonly<{ name: string; agent_id: string | null; shared_usage: boolean; share_id: string | null }>;

@Injectable()
export class ConversationQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** A user's listed conversations, newest first. */
  async listed(ownerId: string, limit: number, cursor?: ListingCursor): Promise<readonly ListedConversation[]> {
    const { sql } = this.readModels;
    return cursor
      ? sql<ListedConversation[]>`
          select ${listedColumns(sql)} from conversations.conversation
          where owner_id = ${ownerId} and visibility = 'listed'
            and (started_at, conversation_id) < (${cursor.before}, ${cursor.beforeId ?? ''})
          order by started_at desc, conversation_id desc limit ${limit}`
      : sql<ListedConversation[]>`
          select ${listedColumns(sql)} from conversations.conversation
          where owner_id = ${ownerId} and visibility = 'listed' order by started_at desc, conversation_id desc limit ${limit}`;
  }

  /** All of a user's listed conversations, newest first. */
  async listedIds(ownerId: string): Promise<readonly string[]> {
    const rows = await this.readModels.sql<{ id: string }[]>`
      select conversation_id as id from conversations.conversation
      where owner_id = ${ownerId} and visibility = 'listed' order by started_at desc, conversation_id desc`;
    return rows.map(({ id }) => id);
  }

  /** A user's listed conversations that wait for an approval or failed at last, unseen; newest first. */
  async needingAttention(ownerId: string, limit: number): Promise<readonly ListedConversation[]> {
    const { sql } = this.readModels;
    return sql<ListedConversation[]>`
      select ${listedColumns(sql)} from conversations.conversation
      where owner_id = ${ownerId} and visibility = 'listed' and needs_owner
      order by started_at desc, conversation_id desc limit ${limit}`;
  }

  /** Whether it has begun, and was not deleted. */
  async isThere(conversationId: string): Promise<boolean> {
    const { sql } = this.readModels;
    const rows = await sql`select 1 from conversations.conversation where conversation_id = ${conversationId}`;
    return rows.length > 0;
  }

  /** How a conversation that is there began; undefined when it is not. */
  async beginningOf(conversationId: string): Promise<Beginning | undefined> {
    const { sql } = this.readModels;
    const [row] = await sql<Beginning[]>`
      select 'open' as status, owner_id as "ownerId", agent_id as "agentId", agent_key_id as "agentKeyId"
      from conversations.conversation where conversation_id = ${conversationId}`;
    return row;
  }

  /** A whole conversation of this user, undefined when it is somebody else's or not there. */
  async whole(ownerId: string, conversationId: string) {
    const rows = await this.readModels.sql<(WholeRow & (TurnRow | { turn_id: null }))[]>`
      select name, agent_id, shared_usage, share_id, turn.*
      from conversations.conversation left join conversations.turn
        on turn.conversation_id = conversation.conversation_id and not superseded
      where conversation.conversation_id = ${conversationId} and owner_id = ${ownerId}
      order by index, asked_at`;
    const [conversation] = rows;
    if (!conversation) return undefined;
    const turns = rows.filter((row) => row.turn_id !== null);
    return {
      queries: turns.map(queryRecord),
      name: conversation.name,
      agent_id: conversation.agent_id,
      is_shared_usage: conversation.shared_usage,
      shareId: conversation.share_id,
    };
  }

  /** The turns of a conversation that have ended and count, in their order: what a link would show now. */
  async endedTurns(conversationId: string): Promise<readonly string[]> {
    const rows = await this.readModels.sql<{ turnId: string }[]>`
      select turn_id as "turnId" from conversations.turn
      where conversation_id = ${conversationId} and not superseded and ended is not null order by index, asked_at`;
    return rows.map(({ turnId }) => turnId);
  }

  /** The link with this hash of its token, unless it has ended. */
  async shareByHash(tokenHash: string) {
    const [row] = await this.readModels.sql<{ shareId: string; conversationId: string; ownerId: string }[]>`
      select share_id as "shareId", conversation_id as "conversationId", owner_id as "ownerId"
      from conversations.share where token_hash = ${tokenHash}`;
    return row;
  }

  /** The newest link of a conversation whose readers may ask. */
  async newestAskingShare(conversationId: string, ownerId: string) {
    const [row] = await this.readModels.sql<{ shareId: string; turnIds: readonly string[]; terms: LinkTerms }[]>`
      select share_id as "shareId", turn_ids as "turnIds", terms from conversations.share
      where conversation_id = ${conversationId} and owner_id = ${ownerId} and terms is not null
      order by shared_at desc, share_id limit 1`;
    return row;
  }

  /** The link with this hash of its token, where its readers may ask. */
  async askingShareByHash(tokenHash: string) {
    const [row] = await this.readModels.sql<{ linkId: string; ownerId: string; terms: LinkTerms }[]>`
      select share_id as "linkId", owner_id as "ownerId", terms from conversations.share
      where token_hash = ${tokenHash} and terms is not null`;
    return row;
  }

  /** Whether a link has not ended. */
  async isShareOpen(shareId: string): Promise<boolean> {
    return (await this.readModels.sql`select 1 from conversations.share where share_id = ${shareId}`).length > 0;
  }

  /** What a link shows: its turns as they ended, whatever became of the conversation since. */
  async shared(tokenHash: string) {
    const { sql } = this.readModels;
    const [share] = await sql<{ title: string; turnIds: readonly string[]; mayAsk: boolean; sharedAt: Date }[]>`
      select title, turn_ids as "turnIds", terms is not null as "mayAsk", shared_at as "sharedAt" from conversations.share where token_hash = ${tokenHash}`;
    if (!share) return undefined;
    const turns = await sql<TurnRow[]>`
      select * from conversations.turn where turn_id = any (${[...share.turnIds]}) order by index, asked_at`;
    return { mayAsk: share.mayAsk, record: { title: share.title, timestamp: share.sharedAt, queries: turns.map(sharedRecord) } };
  }

  /** Which turns of which conversation a link shows, and since when. */
  async shownBy(tokenHash: string) {
    const [row] = await this.readModels.sql<{ conversationId: string; turnIds: readonly string[]; sharedAt: Date }[]>`
      select conversation_id as "conversationId", turn_ids as "turnIds", shared_at as "sharedAt"
      from conversations.share where token_hash = ${tokenHash}`;
    return row;
  }

  /** The conversation of a message, and whether the message's journal, which is gone, was ever complete. */
  async conversationOf(messageId: string) {
    const [row] = await this.readModels.sql<{ conversationId: string; expired: boolean }[]>`
      select conversation_id as "conversationId", sealed as expired from conversations.turn where turn_id = ${messageId}`;
    return row;
  }

  /** A turn of a conversation, also one that counts no more. */
  async turnById(conversationId: string, turnId: string): Promise<EarlierTurn | undefined> {
    const { sql } = this.readModels;
    const [row] = await sql<EarlierTurn[]>`
      select ${this.earlierTurn} from conversations.turn where turn_id = ${turnId} and conversation_id = ${conversationId}`;
    return row;
  }

  /** The turn of a conversation that counts at a place. */
  async turnAt(conversationId: string, index: number): Promise<EarlierTurn | undefined> {
    const { sql } = this.readModels;
    const [row] = await sql<EarlierTurn[]>`
      select ${this.earlierTurn} from conversations.turn
      where conversation_id = ${conversationId} and index = ${index} and not superseded`;
    return row;
  }

  /** The state of a message as the polling route shows it, from the conversation alone. */
  async messageTail(messageId: string) {
    const [row] = await this.readModels.sql<TurnRow[]>`select * from conversations.turn where turn_id = ${messageId}`;
    return (
      row && {
        message_id: messageId,
        status: STATUS[row.status],
        response: row.response,
        thought: row.thought,
        sources: row.sources,
        tool_calls: toolCallsOf(row),
        request_id: row.request_id,
        last_heartbeat_at: row.changed_at,
        error: row.error,
      }
    );
  }

  private get earlierTurn() {
    return this.readModels.sql`turn_id as "turnId", index, status, superseded, feedback`;
  }
}

/** What is listed of a conversation. */
export const listedColumns = (sql: Sql) => sql`
  conversation_id as id, name, agent_id, shared_usage as is_shared_usage, share_id as "shareId", started_at as date, unread, mark`;

/** The words that existing clients know for where a turn stands. A stopped answer is complete: it is what there will be. */
const STATUS = {
  asked: 'pending',
  running: 'streaming',
  paused: 'streaming',
  answered: 'complete',
  stopped: 'complete',
  failed: 'failed',
} as const;

/** The calls that somebody has to decide on come with the others, as long as they wait. */
const toolCallsOf = ({ status, tool_calls, pending }: TurnRow): TurnRow['tool_calls'] =>
  status === 'paused'
    ? withToolCalls(
        tool_calls,
        pending.map((call) => recordOf(call, { status: call.pauseType })),
      )
    : tool_calls;

function metadataOf({ error, guardrail, origin }: TurnRow) {
  if (error === null && origin === null) return {};
  return { metadata: { ...(origin && originRecord(origin)), ...(error !== null && { error }), ...(guardrail && { guardrail }) } };
}

const originRecord = (origin: TurnOrigin) =>
  origin.kind === 'schedule'
    ? { scheduled: true, schedule_id: origin.scheduleId, run_id: origin.runId, scheduled_run_at: origin.scheduledFor }
    : { wake: { source: origin.source, ref_id: origin.refId, dedupe_key: origin.dedupeKey } };

const queryRecord = (row: TurnRow) => ({
  prompt: row.question,
  response: row.response,
  thought: row.thought,
  sources: row.sources,
  tool_calls: toolCallsOf(row),
  timestamp: row.asked_at,
  model_id: row.model_id,
  message_id: row.turn_id,
  status: STATUS[row.status],
  request_id: row.request_id,
  last_heartbeat_at: row.changed_at,
  ...(row.structured ? { structured: true } : {}),
  ...(row.attachments.length > 0 ? { attachments: row.attachments.map(({ id, filename }) => ({ id, fileName: filename })) } : {}),
  ...metadataOf(row),
  ...(row.feedback === null ? {} : { feedback: row.feedback, feedback_timestamp: row.feedback_at }),
});

/** A turn as strangers see it: without what is its owner's alone. */
const sharedRecord = (row: TurnRow) => ({
  prompt: row.question,
  response: row.response,
  thought: row.thought,
  sources: row.sources,
  tool_calls: row.tool_calls,
  timestamp: row.asked_at,
  feedback: null,
  ...(row.attachments.length > 0 ? { attachments: row.attachments.map(({ id, filename }) => ({ id, fileName: filename })) } : {}),
});
