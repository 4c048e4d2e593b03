import { Injectable } from '@nestjs/common';
import type { WakeSource } from '../../src/background/follow-ups/wakes.port.js';
import { ReadModels } from '../read-models.js';
import type { WakeState } from './wakes.queries.js';

/** A time that a monitor had its conversation go on, or was to. */
export type MonitorWake = Readonly<{
  wakeId: string;
  monitorId: string;
  conversationId: string;
  messageId: string | null;
  title: string;
  state: WakeState;
  reason: string | null;
  requestedAt: Date;
  settledAt: Date;
}>;

export type MonitorWakes = Readonly<{ since: Date; states: readonly WakeState[]; text: string }>;

const OF_MONITORS: readonly WakeSource[] = ['monitor', 'monitor_paused', 'monitor_expired'];

/** What a user's monitors woke. */
@Injectable()
export class MonitorWakeQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** Wakes that are over, asked for since a time, the newest first. */
  async past(ownerId: string, { since, states, text }: MonitorWakes, limit: number): Promise<readonly MonitorWake[]> {
    return this.readModels.sql<MonitorWake[]>`
      select wake_id as "wakeId", ref_id as "monitorId", conversation_id as "conversationId", turn_id as "messageId",
        text_head as title, state, reason, requested_at as "requestedAt", settled_at as "settledAt"
      from wakes.wake
      where owner_id = ${ownerId} and ${this.isOfMonitor} and requested_at >= ${since} and settled_at is not null
        and state = any (${[...states]}::text[]) and strpos(lower(text_head), lower(${text})) > 0
      order by requested_at desc, wake_id limit ${limit}`;
  }

  /** How many were asked for since a time and told, or failed. */
  async counts(ownerId: string, since: Date): Promise<Readonly<{ runs: number; failed: number }>> {
    const [counts] = await this.readModels.sql<{ runs: number; failed: number }[]>`
      select count(*)::integer as runs, count(*) filter (where state = 'failed')::integer as failed from wakes.wake
      where owner_id = ${ownerId} and ${this.isOfMonitor} and requested_at >= ${since} and state in ('delivered', 'folded', 'failed')`;
    return counts!;
  }

  private get isOfMonitor() {
    return this.readModels.sql`source = any (${[...OF_MONITORS]}::text[])`;
  }
}
