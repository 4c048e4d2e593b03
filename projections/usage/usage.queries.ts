import { Injectable } from '@nestjs/common';
import { ReadModels } from '../read-models.js';
import type { Used, UsedOfOwner } from '../../src/work/limits/limits.policy.js';

const HOUR_MS = 3_600_000;
const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
const nextHour = (at: Date): Date => new Date(hourOf(at).getTime() + HOUR_MS);

/** Tokens are those of prompts and of completions together. */
export type UsedOfAgent = Used & Readonly<{ known: readonly string[] }>;

@Injectable()
export class UsageQueries {
  constructor(private readonly readModels: ReadModels) {}

  /**
   * What was used of an agent after a time, by whatever way, and which of some turns and runs are known of: whole hours from their
   * sums, the broken one entry by entry.
   */
  async ofAgent(agentId: string, since: Date, ids: readonly string[]): Promise<UsedOfAgent> {
    const edge = nextHour(since);
    const [used] = await this.readModels.sql<[UsedOfAgent]>`
      select coalesce(sum(requests), 0)::float8 as requests, coalesce(sum(tokens), 0)::float8 as tokens,
        array(
          select turn_id from usage.turn where turn_id = any(${[...ids]})
          union all select run_id from usage.run where run_id = any(${[...ids]}) and started
        ) as known
      from (
        select requests, prompt_tokens + completion_tokens as tokens from usage.hour
        where agent_id = ${agentId} and agent_id <> '' and hour >= ${edge}
        union all
        select requests, prompt_tokens + completion_tokens from usage.entry
        where agent_id = ${agentId} and agent_id <> '' and at > ${since} and at < ${edge}
      ) used`;
    return used;
  }

  /** The newest time after another from which on at least so much was used of an agent: once that is left behind, less than that counts. */
  async reachedAt(agentId: string, unit: keyof Used, amount: number, since: Date): Promise<Date | undefined> {
    const { sql } = this.readModels;
    const measure = unit === 'requests' ? sql`requests` : sql`prompt_tokens + completion_tokens`;
    const [row] = await sql<{ at: Date | null }[]>`
      with of_hour as (
        select hour, sum(${measure}) as used from usage.hour
        where agent_id = ${agentId} and agent_id <> '' and hour >= ${hourOf(since)} group by hour
      ), reached as (
        select hour, newer from (select hour, used, sum(used) over (order by hour desc) - used as newer from of_hour) summed
        where newer + used >= ${amount} order by hour desc limit 1
      )
      select max(at) as at from (
        select at, reached.newer + sum(${measure}) over (order by at desc) as used
        from reached join usage.entry on at >= reached.hour and at < reached.hour + interval '1 hour'
        where agent_id = ${agentId} and agent_id <> '' and at > ${since}
      ) summed where used >= ${amount}`;
    return row?.at ?? undefined;
  }

  /** What is charged to an owner from an hour on. */
  async ofOwner(ownerId: string, fromHour: Date): Promise<UsedOfOwner> {
    const rows = await this.readModels.sql<(Used & { withAgent: boolean })[]>`
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
