import type { MonitorDefinition } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { Queries } from '../read-models.js';

export type MonitorRecord = Readonly<{
  id: string;
  ownerId: string;
  conversationId: string;
  agentId: string | null;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  definition: MonitorDefinition;
  createdAt: Date;
  expiresAt: Date;
  /** Null while the monitor is not active. */
  nextCheckAt: Date | null;
  lastCheckedAt: Date | null;
  lastChangedAt: Date | null;
  lastFollowUpAt: Date | null;
  checkCount: number;
  followUpCount: number;
  lastError: string | null;
  pausedReason: string | null;
}>;

/** `live`: active and paused monitors. `all`: also monitors that have ended. */
export type MonitorSelection = 'active' | 'live' | 'all';

/** A monitor that a worker has to process: to check it, to end it, or to recover its check. */
export type DueMonitor = Readonly<{ monitorId: string; dueAt: Date }>;

export class MonitorQueries extends Queries {
  async byId(monitorId: string): Promise<MonitorRecord | undefined> {
    const [row] = await this.sql<MonitorRecord[]>`select ${this.columns} from monitors.monitor where monitor_id = ${monitorId}`;
    return row;
  }

  /** A user's monitors, of one conversation or of all, newest first. */
  async ofOwner(
    ownerId: string,
    { selection, conversationId, limit }: Readonly<{ selection: MonitorSelection; conversationId?: string; limit: number }>,
  ): Promise<readonly MonitorRecord[]> {
    const { sql } = this;
    const which = sql`owner_id = ${ownerId} and status = any (${STATUSES[selection]}::text[])`;
    const where = conversationId === undefined ? which : sql`${which} and conversation_id = ${conversationId}`;
    return sql<MonitorRecord[]>`
      select ${this.columns} from monitors.monitor where ${where} order by created_at desc, monitor_id limit ${limit}`;
  }

  /** A user's active monitors, the soonest check first. */
  async activeOf(ownerId: string): Promise<readonly MonitorRecord[]> {
    return this.sql<MonitorRecord[]>`
      select ${this.columns} from monitors.monitor where owner_id = ${ownerId} and status = 'active' order by next_check_at, monitor_id`;
  }

  /** The ids of a user's active and paused monitors. */
  async liveOf(ownerId: string): Promise<readonly string[]> {
    const rows = await this.sql`
      select monitor_id from monitors.monitor where owner_id = ${ownerId} and status in ('active', 'paused')`;
    return rows.map((row) => row['monitor_id'] as string);
  }

  /** The ids of a user's monitors that were created since a time and have ended. */
  async overOf(ownerId: string, createdSince: Date): Promise<readonly string[]> {
    const rows = await this.sql`
      select monitor_id from monitors.monitor
      where owner_id = ${ownerId} and created_at >= ${createdSince} and status in ('completed', 'cancelled')`;
    return rows.map((row) => row['monitor_id'] as string);
  }

  /** The ids of a conversation's active and paused monitors. */
  async liveOfConversation(conversationId: string): Promise<readonly string[]> {
    const rows = await this.sql`
      select monitor_id from monitors.monitor where conversation_id = ${conversationId} and status in ('active', 'paused')`;
    return rows.map((row) => row['monitor_id'] as string);
  }

  /** The ids of an agent's active and paused monitors. */
  async liveOfAgent(agentId: string): Promise<readonly string[]> {
    const rows = await this.sql`select monitor_id from monitors.monitor where agent_id = ${agentId} and due_at is not null`;
    return rows.map((row) => row['monitor_id'] as string);
  }

  /** The monitors that are due, the longest waiting first. `after`: the last item of the previous page. */
  async due(now: Date, limit: number, after?: DueMonitor): Promise<readonly DueMonitor[]> {
    const { dueAt, monitorId } = after ?? { dueAt: new Date(0), monitorId: '' };
    return this.sql<DueMonitor[]>`
      select monitor_id as "monitorId", due_at as "dueAt" from monitors.monitor
      where due_at <= ${now} and (due_at, monitor_id) > (${dueAt}, ${monitorId})
      order by due_at, monitor_id limit ${limit}`;
  }

  private get columns() {
    return this.sql`monitor_id as id, owner_id as "ownerId", conversation_id as "conversationId", agent_id as "agentId", status,
      definition, created_at as "createdAt", expires_at as "expiresAt", case when status = 'active' then next_check_at end as "nextCheckAt",
      last_checked_at as "lastCheckedAt", last_changed_at as "lastChangedAt", last_follow_up_at as "lastFollowUpAt",
      check_count as "checkCount", follow_up_count as "followUpCount", last_error as "lastError",
      paused_reason as "pausedReason"`;
  }
}

const STATUSES: Readonly<Record<MonitorSelection, string[]>> = {
  active: ['active'],
  live: ['active', 'paused'],
  all: ['active', 'paused', 'completed', 'cancelled'],
};
