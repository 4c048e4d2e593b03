import { Injectable } from '@nestjs/common';
import { ReadModels } from '../read-models.js';

export type UnsealedTurn = Readonly<{ turnId: string; conversationId: string }>;

/** `pausedUntil`: its run is over, and so long it waits for somebody; null: it does not wait. */
export type TakenTurn = UnsealedTurn & Readonly<{ pausedUntil: Date | null }>;

/** One of the pauses of a turn. */
export type KnownPause = Readonly<{ turnId: string; until: Date }>;

/** Which turns still have to be brought to their end, and who is at it. A paused turn waits. */
@Injectable()
export class UnsealedTurnQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** Those that were asked before a time and that no runner has taken, the oldest first. */
  async untaken(askedBefore: Date, limit: number): Promise<readonly UnsealedTurn[]> {
    return this.readModels.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where producer is null and expires_at is null and since < ${askedBefore} order by since, turn_id limit ${limit}`;
  }

  /** Who has taken turns that are not complete. */
  async producers(): Promise<readonly string[]> {
    const rows = await this.readModels.sql<{ producer: string }[]>`
      select distinct producer from unsealed_turns.unsealed_turn where producer is not null`;
    return rows.map(({ producer }) => producer);
  }

  /**
   * Those that some producers have taken, except some that are known to be under way, and pauses known to be shown whole; what is
   * waited for comes before pauses, of which there may be more than are known, the oldest first.
   */
  async takenBy(
    producers: readonly string[],
    except: Readonly<{ running: readonly string[]; pauses: readonly KnownPause[] }>,
    limit: number,
  ): Promise<readonly TakenTurn[]> {
    const ids = except.pauses.map(({ turnId }) => turnId);
    const untils = except.pauses.map(({ until }) => until.toISOString());
    return this.readModels.sql<TakenTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId", expires_at as "pausedUntil"
      from unsealed_turns.unsealed_turn
      where producer = any(${[...producers]}) and turn_id <> all(${[...except.running]})
        and (expires_at is null or (turn_id, expires_at) not in (select * from unnest(${ids}::text[], ${untils}::timestamptz[])))
      order by expires_at is not null, since, turn_id limit ${limit}`;
  }

  /** Of some conversations, those in which a turn is asked or run. */
  async conversationsUnderWay(conversationIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.readModels.sql<{ conversation_id: string }[]>`
      select distinct conversation_id from unsealed_turns.unsealed_turn
      where conversation_id = any(${[...conversationIds]}) and expires_at is null`;
    return new Set(rows.map((row) => row.conversation_id));
  }

  /** Those that users asked of agents, all or one, and that do not wait for decisions. */
  async ofSharedAgents(agentId?: string): Promise<readonly UnsealedTurn[]> {
    const which = agentId === undefined ? this.readModels.sql`agent_id is not null` : this.readModels.sql`agent_id = ${agentId}`;
    return this.readModels.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where ${which} and expires_at is null order by since, turn_id`;
  }

  /** Those that have waited for somebody as long as they were to, the one that waited out first before all others. */
  async expired(now: Date, limit: number): Promise<readonly UnsealedTurn[]> {
    return this.readModels.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where expires_at <= ${now} order by expires_at, turn_id limit ${limit}`;
  }
}
