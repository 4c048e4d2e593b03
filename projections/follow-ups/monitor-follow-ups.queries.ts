import type { FollowUpSource, FollowUpState } from '../../src/background/follow-ups/follow-ups.port.js';
import { Queries } from '../read-models.js';

/** A settled follow-up that a monitor requested. */
export type MonitorFollowUp = Readonly<{
  followUpId: string;
  monitorId: string;
  conversationId: string;
  messageId: string | null;
  title: string;
  state: FollowUpState;
  reason: string | null;
  requestedAt: Date;
  settledAt: Date;
}>;

export type MonitorFollowUps = Readonly<{ since: Date; states: readonly FollowUpState[]; text: string }>;

const OF_MONITORS: readonly FollowUpSource[] = ['monitor', 'monitor_paused', 'monitor_expired'];

/** The follow-ups of a user's monitors. */
export class MonitorFollowUpQueries extends Queries {
  /** Settled follow-ups that were requested since a time, the newest first. */
  async past(ownerId: string, { since, states, text }: MonitorFollowUps, limit: number): Promise<readonly MonitorFollowUp[]> {
    return this.sql<MonitorFollowUp[]>`
      select follow_up_id as "followUpId", ref_id as "monitorId", conversation_id as "conversationId", turn_id as "messageId",
        text_head as title, state, reason, requested_at as "requestedAt", settled_at as "settledAt"
      from follow_ups.follow_up
      where owner_id = ${ownerId} and ${this.isOfMonitor} and requested_at >= ${since} and settled_at is not null
        and state = any (${[...states]}::text[]) and strpos(lower(text_head), lower(${text})) > 0
      order by requested_at desc, follow_up_id limit ${limit}`;
  }

  /** The number of follow-ups that were requested since a time and delivered, merged or failed, and how many of them failed. */
  async counts(ownerId: string, since: Date): Promise<Readonly<{ runs: number; failed: number }>> {
    const [counts] = await this.sql<{ runs: number; failed: number }[]>`
      select count(*)::integer as runs, count(*) filter (where state = 'failed')::integer as failed from follow_ups.follow_up
      where owner_id = ${ownerId} and ${this.isOfMonitor} and requested_at >= ${since} and state in ('delivered', 'merged', 'failed')`;
    return counts!;
  }

  private get isOfMonitor() {
    return this.sql`source = any (${[...OF_MONITORS]}::text[])`;
  }
}
