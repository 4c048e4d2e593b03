import type { Sql } from 'postgres';
import { Queries } from '../read-models.js';
import { type ListedConversation, listedColumns } from './conversations.queries.js';
import { snippetOf } from './search-snippet.policy.js';

export type FoundConversation = ListedConversation &
  Readonly<{ match_field: 'name' | 'prompt' | 'response'; match_snippet: string }>;

/**
 * The number of conversations that are read at a time, newest first, while the text is common. For a common text the index
 * returns too many candidates.
 */
export const READ_AT_ONCE = 40;
/** A text is common if at least this many of the conversations read at a time contain it. */
const COMMON_MIN = 3;
/**
 * If an owner has at most this many conversations, all of them are read instead of the index. The index has the texts of all
 * owners, so a text of common letters takes more time the more texts the others have.
 */
export const OWN_READ_MAX = 200;
/** The number of turns of all owners with the text that are looked up in any case. */
const CANDIDATES_MIN = 500;
/** The number of turns that a conversation is expected to have. */
const TURNS_EXPECTED = 4;
/**
 * A trigram that the index can use: three letters or digits, or fewer at the beginning or the end of a word. A text without one
 * is searched for by reading all conversations.
 */
const TRIGRAM = /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u;

type Match = ListedConversation & Readonly<{ match_field: FoundConversation['match_field']; matched: string }>;
type Fragment = ReturnType<typeof listedColumns>;
type Place = Readonly<{ startedAt: Date; id: string }>;
type Searched = Readonly<{ ownerId: string; pattern: string; limit: number }>;

export class ConversationSearchQueries extends Queries {
  /** Listed conversations whose name, questions or answers contain the text in any case, newest first, with one match each. */
  async search(ownerId: string, text: string, limit: number): Promise<readonly FoundConversation[]> {
    const searched = { ownerId, pattern: `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`, limit };
    const matches = TRIGRAM.test(text) ? await this.byIndex(searched) : await this.matching(searched, this.ofOwner(ownerId));
    return matches.map(({ matched, ...listed }) => ({ ...listed, match_snippet: snippetOf(matched, text) }));
  }

  private async byIndex(searched: Searched): Promise<readonly Match[]> {
    const { sql } = this;
    const found: Match[] = [];
    const toCome = () => ({ ...searched, limit: searched.limit - found.length });
    let after: Place | undefined;
    let isCommon: boolean;
    do {
      const rest = this.ofOwner(searched.ownerId, after);
      const next = sql`(${rest} order by started_at desc, conversation_id desc limit ${READ_AT_ONCE})`;
      const [matches, last] = await Promise.all([this.matching(toCome(), next), this.lastOf(rest)]);
      found.push(...matches);
      if (found.length === searched.limit || !last) return found;
      after = last;
      isCommon = matches.length >= COMMON_MIN;
    } while (isCommon);
    const rest = this.ofOwner(searched.ownerId, after);
    const candidates = await this.candidates(searched);
    const sought = candidates ? sql`${rest} and conversation_id = any (${candidates as string[]}::text[])` : rest;
    return [...found, ...(await this.matching(toCome(), sought))];
  }

  /**
   * The owner's conversations among those that the index finds, which are those of all owners. Undefined if reading those of the
   * owner takes less, because they are few or the index finds many turns, or if there is no index.
   */
  private async candidates({ ownerId, pattern }: Searched): Promise<readonly string[] | undefined> {
    const { sql } = this;
    const [row] = await sql<{ ids: readonly string[] | null }[]>`
      with candidate as materialized (${candidatesOfAll(sql, pattern)}), allowed as materialized (
        select case when to_regclass('conversations.turn_text') is null or count(*) <= ${OWN_READ_MAX} then 0
          else ${CANDIDATES_MIN} + ${TURNS_EXPECTED} * count(*) end as number
        from (${this.ofOwner(ownerId)}) own
      ), few as materialized (
        select conversation_id from candidate limit (select number from allowed)
      )
      select case when (select count(*) from few) < (select number from allowed) then array(
        select distinct conversation_id from few join (${this.ofOwner(ownerId)}) own using (conversation_id)
      ) end as ids`;
    return row?.ids ?? undefined;
  }

  /** The last of the next `READ_AT_ONCE` conversations. Undefined if fewer are left. */
  private async lastOf(conversations: Fragment): Promise<Place | undefined> {
    const [last] = await this.sql<Place[]>`
      select started_at as "startedAt", conversation_id as id from (${conversations}) conversation
      order by started_at desc, conversation_id desc offset ${READ_AT_ONCE - 1} limit 1`;
    return last;
  }

  private ofOwner(ownerId: string, after?: Place): Fragment {
    const { sql } = this;
    return sql`select * from conversations.conversation where owner_id = ${ownerId} and visibility = 'listed'
      ${after ? sql`and (started_at, conversation_id) < (${after.startedAt}, ${after.id})` : sql``}`;
  }

  /** The conversations among these that match, each with its first match: the name, else a question, else an answer. */
  private async matching({ pattern, limit }: Searched, conversations: Fragment): Promise<readonly Match[]> {
    const { sql } = this;
    const inName = sql`lower(name) like lower(${pattern})`;
    const turns = sql`from conversations.turn where turn.conversation_id = conversation.conversation_id and not superseded`;
    return sql<Match[]>`
      select ${listedColumns(sql)},
        case when ${inName} then 'name' when prompt.question is not null then 'prompt' else 'response' end as match_field,
        case when ${inName} then name else coalesce(prompt.question, answer.response) end as matched
      from (${conversations}) conversation
        left join lateral (
          select question ${turns} and not ${inName} and lower(question) like lower(${pattern}) order by index limit 1
        ) prompt on true
        left join lateral (
          select response ${turns} and not ${inName} and prompt.question is null and lower(response) like lower(${pattern})
          order by index limit 1
        ) answer on true
      where ${inName} or prompt.question is not null or answer.response is not null
      order by started_at desc, conversation_id desc limit ${limit}`;
  }
}

/** Conversations of all owners that contain the text. Unfinished turns are not in the index, but they are few. */
const candidatesOfAll = (sql: Sql, pattern: string): Fragment => {
  const hasText = sql`(lower(question) like lower(${pattern}) or lower(response) like lower(${pattern}))`;
  return sql`
    select conversation_id from conversations.turn where ended is not null and not superseded and ${hasText}
    union all
    select conversation_id from conversations.turn where ended is null and not superseded and ${hasText}
    union all
    select conversation_id from conversations.conversation where visibility = 'listed' and lower(name) like lower(${pattern})`;
};
