import { Queries } from '../read-models.js';

/** The finding of one check in the texts of a turn, run or delivery. */
export type GuardrailEventRecord = Readonly<{
  id: string;
  agentId: string | null;
  messageId: string | null;
  requestId: string | null;
  stage: string;
  check: string;
  detector: string;
  action: string;
  outcome: string;
  category: string | null;
  score: number | null;
  matchCount: number;
  createdAt: Date;
}>;

export type GuardrailCount = Readonly<{
  check: string;
  stage: string;
  action: string;
  outcome: string;
  category: string | null;
  total: number;
}>;

/** The subject of the findings: all of an owner, or those about one of the owner's agents. */
export type GuardrailEventFilter = Readonly<{ ownerId: string; agentId?: string }>;

/** A record that has had no new findings since a time. */
export type OldGuardrailRecord = Readonly<{ id: string; since: Date }>;

export class GuardrailEventQueries extends Queries {
  /** One page of findings, the newest first. */
  async page(filter: GuardrailEventFilter, limit: number, offset: number): Promise<readonly GuardrailEventRecord[]> {
    return this.sql<GuardrailEventRecord[]>`
      select concat_ws(':', record_id, stage, check_name) as id, agent_id as "agentId", message_id as "messageId",
        request_id as "requestId", stage, check_name as check, detector, action, outcome, category, score,
        match_count as "matchCount", recorded_at as "createdAt"
      from guardrail_events.decision where ${this.matches(filter)}
      order by recorded_at desc, record_id, stage, check_name limit ${limit} offset ${offset}`;
  }

  /** The number of findings since a time by check, stage, action, outcome and category, the most frequent first. */
  async counts(filter: GuardrailEventFilter, since: Date): Promise<readonly GuardrailCount[]> {
    return this.sql<GuardrailCount[]>`
      select check_name as check, stage, action, outcome, category, count(*)::int as total
      from guardrail_events.decision where ${this.matches(filter)} and recorded_at >= ${since}
      group by check_name, stage, action, outcome, category
      order by total desc, check_name, stage, action, outcome, category`;
  }

  /** Records without new findings since a time, the oldest first. `after`: the last item of the previous page. */
  async recordedBefore(before: Date, limit: number, after?: OldGuardrailRecord): Promise<readonly OldGuardrailRecord[]> {
    const { since, id } = after ?? { since: new Date(0), id: '' };
    return this.sql<OldGuardrailRecord[]>`
      select record_id as id, since from guardrail_events.record
      where since < ${before} and (since, record_id) > (${since}, ${id})
      order by since, record_id limit ${limit}`;
  }

  private matches({ ownerId, agentId }: GuardrailEventFilter) {
    const { sql } = this;
    return sql`owner_id = ${ownerId} ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}`;
  }
}
