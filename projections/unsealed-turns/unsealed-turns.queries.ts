import { Queries } from '../read-models.js';

export type UnsealedTurn = Readonly<{ turnId: string; conversationId: string }>;

/** A turn in which a user asked an agent. */
export type TurnOfAgent = UnsealedTurn & Readonly<{ agentId: string }>;

/** A paused turn, whose run has ended. The pause expires at `pausedUntil`. */
export type PausedTurn = UnsealedTurn & Readonly<{ producer: string; pausedUntil: Date }>;

/** The turns whose journal is not sealed yet and the producers that took them. */
export class UnsealedTurnQueries extends Queries {
  /** The turns that are ready and not taken by a runner, the oldest first. */
  async untaken(limit: number): Promise<readonly UnsealedTurn[]> {
    return this.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where producer is null and expires_at is null order by since, turn_id limit ${limit}`;
  }

  /**
   * The producers that have taken turns which are neither paused nor sealed, and a page of the paused turns, those that expire first
   * before the others. `after`: the last item of the previous page.
   */
  async taken(
    limit: number,
    after: Pick<PausedTurn, 'turnId' | 'pausedUntil'> = { turnId: '', pausedUntil: new Date(0) },
  ): Promise<Readonly<{ producers: readonly string[]; paused: readonly PausedTurn[] }>> {
    const rows = await this.sql<(PausedTurn | { turnId: null; producer: string })[]>`
      select distinct producer, null as "turnId", null as "conversationId", null::timestamptz as "pausedUntil"
      from unsealed_turns.unsealed_turn where producer is not null and expires_at is null
      union all (
        select producer, turn_id, conversation_id, expires_at from unsealed_turns.unsealed_turn
        where expires_at is not null and (expires_at, turn_id) > (${after.pausedUntil}, ${after.turnId})
        order by expires_at, turn_id limit ${limit}
      )
      order by "pausedUntil" nulls first, "turnId"`;
    return {
      producers: rows.flatMap((row) => (row.turnId === null ? row.producer : [])),
      paused: rows.filter((row) => row.turnId !== null),
    };
  }

  /** The turns that these producers have taken and that are not paused, the oldest first, without those known to be running. */
  async takenBy(producers: readonly string[], running: readonly string[], limit: number): Promise<readonly UnsealedTurn[]> {
    if (producers.length === 0) return [];
    return this.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where producer = any(${[...producers]}) and expires_at is null and turn_id <> all(${[...running]})
      order by since, turn_id limit ${limit}`;
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
  async ofSharedAgents(agentId?: string): Promise<readonly TurnOfAgent[]> {
    const which = agentId === undefined ? this.sql`agent_id is not null` : this.sql`agent_id = ${agentId}`;
    return this.sql<TurnOfAgent[]>`
      select turn_id as "turnId", conversation_id as "conversationId", agent_id as "agentId" from unsealed_turns.unsealed_turn
      where ${which} and expires_at is null order by since, turn_id`;
  }

  /**
   * The paused turns whose pause has expired, the earliest expired first. They have expired by two clocks, `now` and that of the
   * database, because the end of a pause is final and the clock of one process may be far ahead.
   */
  async expired(now: Date, limit: number): Promise<readonly UnsealedTurn[]> {
    return this.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId" from unsealed_turns.unsealed_turn
      where expires_at <= least(${now}, now()) order by expires_at, turn_id limit ${limit}`;
  }
}
