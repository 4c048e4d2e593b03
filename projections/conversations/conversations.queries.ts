import type { Sql } from 'postgres';
import type { EarlierTurn } from '../../src/dialogue/conversation/earlier-turns.port.js';
import type { Mark } from '../../src/dialogue/conversation/conversation-mark.policy.js';
import type { Beginning } from '../../src/resources/identity/acts.policy.js';
import type { LinkTerms } from '../../src/resources/identity/links/asking-links.port.js';
import { Queries } from '../read-models.js';
import {
  type QueryRecord,
  queryRecord,
  type SharedRecord,
  sharedRecord,
  STATUS,
  toolCallsOf,
  type TurnRow,
} from './turn-records.js';

/** A conversation as the sidebar lists it. */
export type ListedConversation = Readonly<{
  id: string;
  name: string;
  agent_id: string | null;
  is_shared_usage: boolean;
  /** The newest link that has not ended. */
  shareId: string | null;
  date: Date;
  /** Whether the conversation has content that the owner has not opened yet. */
  unread: boolean;
  /** The most urgent mark that applies. */
  mark: Mark | null;
}>;

/** The place where a page of the listing begins: after the conversation that started at this time. */
export type ListingCursor = Readonly<{ before: Date; beforeId: string | undefined }>;

/**
 * The number of turns that are read together. A turn has up to about one MiB, so a long conversation must not be in the memory of
 * the process as a whole.
 */
export const TURNS_AT_ONCE = 32;

/** A conversation with its turns, as its owner sees it. */
export type WholeConversation = Readonly<{
  queries: readonly QueryRecord[];
  name: string;
  agent_id: string | null;
  is_shared_usage: boolean;
  shareId: string | null;
}>;

type ConversationRow = Readonly<{ name: string; agent_id: string | null; shared_usage: boolean; share_id: string | null }>;

export class ConversationQueries extends Queries {
  /**
   * A result that is made from this read model alone. It is returned from memory while the read model is unchanged.
   *
   * @param key identifies the result; it includes the user
   */
  whileUnchanged<T>(key: readonly unknown[], result: () => Promise<T>): Promise<T> {
    return this.readModels.remembered('conversations', JSON.stringify(key), result);
  }

  /** A user's listed conversations, newest first. */
  async listed(ownerId: string, limit: number, cursor?: ListingCursor): Promise<readonly ListedConversation[]> {
    const { sql } = this;
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
    const rows = await this.sql<{ id: string }[]>`
      select conversation_id as id from conversations.conversation
      where owner_id = ${ownerId} and visibility = 'listed' order by started_at desc, conversation_id desc`;
    return rows.map(({ id }) => id);
  }

  /** A user's listed conversations that wait for an approval or have an unseen failure, newest first. */
  async needingAttention(ownerId: string, limit: number): Promise<readonly ListedConversation[]> {
    const { sql } = this;
    return sql<ListedConversation[]>`
      select ${listedColumns(sql)} from conversations.conversation
      where owner_id = ${ownerId} and visibility = 'listed' and needs_owner
      order by started_at desc, conversation_id desc limit ${limit}`;
  }

  /** Whether the conversation exists: it has started and is not deleted. */
  async isThere(conversationId: string): Promise<boolean> {
    const { sql } = this;
    const rows = await sql`select 1 from conversations.conversation where conversation_id = ${conversationId}`;
    return rows.length > 0;
  }

  /** The owner, agent and agent key that a conversation started with. Undefined if it does not exist. */
  async beginningOf(conversationId: string): Promise<Beginning | undefined> {
    const { sql } = this;
    const [row] = await sql<Beginning[]>`
      select 'open' as status, owner_id as "ownerId", agent_id as "agentId", agent_key_id as "agentKeyId"
      from conversations.conversation where conversation_id = ${conversationId}`;
    return row;
  }

  /** The owners of those of these conversations that exist, by the ids of the conversations. */
  async ownersOf(conversationIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (conversationIds.length === 0) return new Map();
    const rows = await this.sql<{ id: string; ownerId: string }[]>`
      select conversation_id as id, owner_id as "ownerId" from conversations.conversation
      where conversation_id = any(${[...conversationIds]})`;
    return new Map(rows.map(({ id, ownerId }) => [id, ownerId]));
  }

  /**
   * A conversation of this user, up to a number of turns. `pages`: all of its turns, if there are more. Undefined if it
   * belongs to another user or does not exist.
   */
  async withTurns(
    ownerId: string,
    conversationId: string,
  ): Promise<(WholeConversation & { pages?: () => AsyncIterable<readonly QueryRecord[]> }) | undefined> {
    const { sql } = this;
    const rows = await sql<(ConversationRow & (TurnRow | { turn_id: null }))[]>`
      select name, agent_id, shared_usage, share_id, turn.*
      from conversations.conversation left join conversations.turn
        on turn.conversation_id = conversation.conversation_id and not superseded
      where conversation.conversation_id = ${conversationId} and owner_id = ${ownerId}
      order by index, asked_at limit ${TURNS_AT_ONCE + 1}`;
    const [conversation] = rows;
    if (!conversation) return undefined;
    const turns = rows.filter((row) => row.turn_id !== null);
    return {
      ...(turns.length > TURNS_AT_ONCE && { pages: () => this.pagesOf(this.turnIds(conversationId), queryRecord) }),
      queries: turns.map(queryRecord),
      name: conversation.name,
      agent_id: conversation.agent_id,
      is_shared_usage: conversation.shared_usage,
      shareId: conversation.share_id,
    };
  }

  private async turnIds(conversationId: string): Promise<readonly string[]> {
    const rows = await this.sql<{ id: string }[]>`
      select turn_id as id from conversations.turn
      where conversation_id = ${conversationId} and not superseded order by index, asked_at`;
    return rows.map(({ id }) => id);
  }

  /** These turns, in pages. */
  private async *pagesOf<T>(
    ids: readonly string[] | Promise<readonly string[]>,
    recordOf: (row: TurnRow) => T,
  ): AsyncGenerator<readonly T[], void> {
    const turnIds = await ids;
    for (let at = 0; at < turnIds.length; at += TURNS_AT_ONCE) {
      const rows = await this.sql<TurnRow[]>`
        select * from conversations.turn where turn_id = any (${turnIds.slice(at, at + TURNS_AT_ONCE)}) order by index, asked_at`;
      yield rows.map(recordOf);
    }
  }

  /** The turns that a new link to the conversation would show, in order: those that have ended and are not superseded. */
  async endedTurns(conversationId: string): Promise<readonly string[]> {
    const rows = await this.sql<{ turnId: string }[]>`
      select turn_id as "turnId" from conversations.turn
      where conversation_id = ${conversationId} and not superseded and ended is not null order by index, asked_at`;
    return rows.map(({ turnId }) => turnId);
  }

  /** The open link whose token has this hash. */
  async shareByHash(tokenHash: string) {
    const [row] = await this.sql<{ shareId: string; conversationId: string; ownerId: string }[]>`
      select share_id as "shareId", conversation_id as "conversationId", owner_id as "ownerId"
      from conversations.share where token_hash = ${tokenHash}`;
    return row;
  }

  /** The newest open link of a conversation that allows its readers to ask questions. */
  async newestAskingShare(conversationId: string, ownerId: string) {
    const [row] = await this.sql<{ shareId: string; turnIds: readonly string[]; terms: LinkTerms }[]>`
      select share_id as "shareId", turn_ids as "turnIds", terms from conversations.share
      where conversation_id = ${conversationId} and owner_id = ${ownerId} and terms is not null
      order by shared_at desc, share_id limit 1`;
    return row;
  }

  /** The open link whose token has this hash, if it allows its readers to ask questions. */
  async askingShareByHash(tokenHash: string) {
    const [row] = await this.sql<{ linkId: string; ownerId: string; terms: LinkTerms }[]>`
      select share_id as "linkId", owner_id as "ownerId", terms from conversations.share
      where token_hash = ${tokenHash} and terms is not null`;
    return row;
  }

  /** Whether a link is open. */
  async isShareOpen(shareId: string): Promise<boolean> {
    return (await this.sql`select 1 from conversations.share where share_id = ${shareId}`).length > 0;
  }

  /** The content of a link: its turns as they ended, also if they were superseded later. `pages`: as in `withTurns`. */
  async shared(tokenHash: string) {
    const { sql } = this;
    const [share] = await sql<{ title: string; turnIds: readonly string[]; mayAsk: boolean; sharedAt: Date }[]>`
      select title, turn_ids as "turnIds", terms is not null as "mayAsk", shared_at as "sharedAt" from conversations.share where token_hash = ${tokenHash}`;
    if (!share) return undefined;
    const { title, turnIds, mayAsk, sharedAt: timestamp } = share;
    const pages = () => this.pagesOf(turnIds, sharedRecord);
    const isLong = turnIds.length > TURNS_AT_ONCE;
    const queries: readonly SharedRecord[] = isLong ? [] : ((await pages().next()).value ?? []);
    return { mayAsk, record: { title, timestamp, queries }, ...(isLong && { pages }) };
  }

  /** The conversation and the turns that a link shows, and when it was created. */
  async shownBy(tokenHash: string) {
    const [row] = await this.sql<{ conversationId: string; turnIds: readonly string[]; sharedAt: Date }[]>`
      select conversation_id as "conversationId", turn_ids as "turnIds", shared_at as "sharedAt"
      from conversations.share where token_hash = ${tokenHash}`;
    return row;
  }

  /** The conversation of a message without a journal. `expired`: the journal was complete and has since been deleted. */
  async conversationOf(messageId: string) {
    const [row] = await this.sql<{ conversationId: string; expired: boolean }[]>`
      select conversation_id as "conversationId", sealed as expired from conversations.turn where turn_id = ${messageId}`;
    return row;
  }

  /** A turn of a conversation, also if it is superseded. */
  async turnById(conversationId: string, turnId: string): Promise<EarlierTurn | undefined> {
    const { sql } = this;
    const [row] = await sql<EarlierTurn[]>`
      select ${this.earlierTurn} from conversations.turn where turn_id = ${turnId} and conversation_id = ${conversationId}`;
    return row;
  }

  /** The turn of a conversation at an index that is not superseded. */
  async turnAt(conversationId: string, index: number): Promise<EarlierTurn | undefined> {
    const { sql } = this;
    const [row] = await sql<EarlierTurn[]>`
      select ${this.earlierTurn} from conversations.turn
      where conversation_id = ${conversationId} and index = ${index} and not superseded`;
    return row;
  }

  /** The state of a message as the polling route shows it, read without the journal. */
  async messageTail(messageId: string) {
    const [row] = await this.sql<TurnRow[]>`select * from conversations.turn where turn_id = ${messageId}`;
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
    return this.sql`turn_id as "turnId", index, status, superseded, feedback`;
  }
}

/** The columns of a listed conversation. */
export const listedColumns = (sql: Sql) => sql`
  conversation_id as id, name, agent_id, shared_usage as is_shared_usage, share_id as "shareId", started_at as date, unread, mark`;
