import { Queries } from '../read-models.js';

export type UnsealedTurn = Readonly<{ turnId: string; conversationId: string }>;

/** `pausedUntil`: the turn is paused and its run has ended; the pause expires at this time. Null: the turn is not paused. */
export type TakenTurn = UnsealedTurn & Readonly<{ pausedUntil: Date | null }>;

/** One of the pauses of a turn, identified by the time at which it expires. */
export type KnownPause = Readonly<{ turnId: string; until: Date }>;

/** The turns whose journal is not sealed yet and the producers that took them. */
export class UnsealedTurnQueries extends Queries {
  /** The turns that are ready and not taken by a runner, the oldest first. */
  async untaken(limit: number): Promise<readonly UnsealedTurn[]> {
    return this.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where producer is null and expires_at is null order by since, turn_id limit ${limit}`;
  }

  /** The producers that have taken turns whose journal is not sealed yet. */
  async producers(): Promise<readonly string[]> {
    const rows = await this.sql<{ producer: string }[]>`
      select distinct producer from unsealed_turns.unsealed_turn where producer is not null`;
    return rows.map(({ producer }) => producer);
  }

  /**
   * The turns that these producers have taken, the oldest first, without those known to be running and without pauses whose
   * journal is known to show them completely. Running turns come before paused ones, because there may be more pauses than the
   * caller knows.
   */
  async takenBy(
    producers: readonly string[],
    except: Readonly<{ running: readonly string[]; pauses: readonly KnownPause[] }>,
    limit: number,
  ): Promise<readonly TakenTurn[]> {
    if (producers.length === 0) return [];
    const ids = except.pauses.map(({ turnId }) => turnId);
    const untils = except.pauses.map(({ until }) => until.toISOString());
    return this.sql<TakenTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId", expires_at as "pausedUntil"
      from unsealed_turns.unsealed_turn
      where producer = any(${[...producers]}) and turn_id <> all(${[...except.running]})
        and (expires_at is null or (turn_id, expires_at) not in (select * from unnest(${ids}::text[], ${untils}::timestamptz[])))
      order by expires_at is not null, since, turn_id limit ${limit}`;
  }

  /** The conversations among these that have a turn that is queued or running. */
  async conversationsUnderWay(conversationIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (conversationIds.length === 0) return new Set();
    const rows = await this.sql<{ conversation_id: string }[]>`
      select distinct conversation_id from unsealed_turns.unsealed_turn
      where conversation_id = any(${[...conversationIds]}) and expires_at is null`;
    return new Set(rows.map((row) => row.conversation_id));
  }

  /** The turns in which users, not holders of a key, asked any agent or this one, and that are not paused. */
  async ofSharedAgents(agentId?: string): Promise<readonly UnsealedTurn[]> {
    const which = agentId === undefined ? this.sql`agent_id is not null` : this.sql`agent_id = ${agentId}`;
    return this.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where ${which} and expires_at is null order by since, turn_id`;
  }

  /** The paused turns whose pause has expired, the earliest expired first. */
  async expired(now: Date, limit: number): Promise<readonly UnsealedTurn[]> {
    return this.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where expires_at <= ${now} order by expires_at, turn_id limit ${limit}`;
  }
}
