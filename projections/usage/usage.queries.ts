import { Queries } from '../read-models.js';
import { keyIdOfLink } from '../../src/resources/identity/caller.js';
import type { Used, UsedOfOwner } from '../../src/work/limits/limits.policy.js';

const HOUR_MS = 3_600_000;
const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
const nextHour = (at: Date): Date => new Date(hourOf(at).getTime() + HOUR_MS);

/** `tokens`: prompt and completion tokens together. `known`: the given turns and runs whose request is counted. */
export type UsedSoFar = Used & Readonly<{ known: readonly string[] }>;

/** The subject whose usage is counted: an agent with all of its requests, or the readers of a link. */
export type Counted = Readonly<{ agentId: string } | { linkId: string }>;

export class UsageQueries extends Queries {
  /**
   * The usage since a time, and the turns and runs among `ids` that are counted in it. Whole hours are read from their sums, the
   * incomplete first hour from its entries.
   */
  async used(counted: Counted, since: Date, ids: readonly string[]): Promise<UsedSoFar> {
    const isCounted = this.rowsOf(counted);
    const edge = nextHour(since);
    const [used] = await this.sql<[UsedSoFar]>`
      select coalesce(sum(requests), 0)::float8 as requests, coalesce(sum(tokens), 0)::float8 as tokens,
        array(
          select turn_id from usage.turn where turn_id = any(${[...ids]})
          union all select run_id from usage.run where run_id = any(${[...ids]}) and started
        ) as known
      from (
        select requests, prompt_tokens + completion_tokens as tokens from usage.hour
        where ${isCounted} and hour >= ${edge}
        union all
        select requests, prompt_tokens + completion_tokens from usage.entry
        where ${isCounted} and at > ${since} and at < ${edge}
      ) used`;
    return used;
  }

  /** The latest time after `since` from which on at least `amount` was used. A window that begins later contains less. */
  async reachedAt(counted: Counted, unit: keyof Used, amount: number, since: Date): Promise<Date | undefined> {
    const { sql } = this;
    const isCounted = this.rowsOf(counted);
    const measure = unit === 'requests' ? sql`requests` : sql`prompt_tokens + completion_tokens`;
    const [row] = await sql<{ at: Date | null }[]>`
      with of_hour as (
        select hour, sum(${measure}) as used from usage.hour
        where ${isCounted} and hour >= ${hourOf(since)} group by hour
      ), reached as (
        select hour, newer from (select hour, used, sum(used) over (order by hour desc) - used as newer from of_hour) summed
        where newer + used >= ${amount} order by hour desc limit 1
      )
      select max(at) as at from (
        select at, reached.newer + sum(${measure}) over (order by at desc) as used
        from reached join usage.entry on at >= reached.hour and at < reached.hour + interval '1 hour'
        where ${isCounted} and at > ${since}
      ) summed where used >= ${amount}`;
    return row?.at ?? undefined;
  }

  /** The condition for the rows of the subject, written so that Postgres uses the partial indexes. */
  private rowsOf(counted: Counted) {
    const { sql } = this;
    return 'linkId' in counted
      ? sql`agent_key_id = ${keyIdOfLink(counted.linkId)} and agent_key_id like 'link:%'`
      : sql`agent_id = ${counted.agentId} and agent_id <> ''`;
  }

  /** The usage charged to an owner since the beginning of an hour. */
  async ofOwner(ownerId: string, fromHour: Date): Promise<UsedOfOwner> {
    const rows = await this.sql<(Used & { withAgent: boolean })[]>`
      select agent_id <> '' as "withAgent", sum(requests)::float8 as requests,
        sum(prompt_tokens + completion_tokens)::float8 as tokens
      from usage.hour where owner_id = ${ownerId} and hour >= ${fromHour} group by 1`;
    const of = (withAgent: boolean): Used => {
      const { requests, tokens } = rows.find((row) => row.withAgent === withAgent) ?? { requests: 0, tokens: 0 };
      return { requests, tokens };
    };
    return { direct: of(false), agent: of(true) };
  }
}
