import type { Row } from 'postgres';
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
    const rows = await this.sql`select * from monitors.monitor where monitor_id = ${monitorId}`;
    return rows.map(asMonitor)[0];
  }

  /** A user's monitors, of one conversation or of all, newest first. */
  async ofOwner(
    ownerId: string,
    { selection, conversationId, limit }: Readonly<{ selection: MonitorSelection; conversationId?: string; limit: number }>,
  ): Promise<readonly MonitorRecord[]> {
    const { sql } = this;
    const which = sql`owner_id = ${ownerId} and status = any (${STATUSES[selection]}::text[])`;
    const where = conversationId === undefined ? which : sql`${which} and conversation_id = ${conversationId}`;
    const rows = await sql`
      select * from monitors.monitor where ${where} order by created_at desc, monitor_id limit ${limit}`;
    return rows.map(asMonitor);
  }

  /** A user's active monitors, the soonest check first. */
  async activeOf(ownerId: string): Promise<readonly MonitorRecord[]> {
    const rows = await this.sql`
      select * from monitors.monitor where owner_id = ${ownerId} and status = 'active' order by next_check_at, monitor_id`;
    return rows.map(asMonitor);
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

  /** The monitors that are due, the longest waiting first. `after`: the last item of the previous page. */
  async due(now: Date, limit: number, after?: DueMonitor): Promise<readonly DueMonitor[]> {
    const { dueAt, monitorId } = after ?? { dueAt: new Date(0), monitorId: '' };
    const rows = await this.sql`
      select monitor_id, due_at from monitors.monitor
      where due_at <= ${now} and (due_at, monitor_id) > (${dueAt}, ${monitorId})
      order by due_at, monitor_id limit ${limit}`;
    return rows.map((row) => ({ monitorId: row['monitor_id'] as string, dueAt: row['due_at'] as Date }));
  }
}

const STATUSES: Readonly<Record<MonitorSelection, string[]>> = {
  active: ['active'],
  live: ['active', 'paused'],
  all: ['active', 'paused', 'completed', 'cancelled'],
};

const asMonitor = (row: Row): MonitorRecord => ({
  id: row['monitor_id'] as string,
  ownerId: row['owner_id'] as string,
  conversationId: row['conversation_id'] as string,
  agentId: row['agent_id'] as string | null,
  status: row['status'] as MonitorRecord['status'],
  definition: row['definition'] as MonitorDefinition,
  createdAt: row['created_at'] as Date,
  expiresAt: row['expires_at'] as Date,
  nextCheckAt: row['status'] === 'active' ? (row['next_check_at'] as Date) : null,
  lastCheckedAt: row['last_checked_at'] as Date | null,
  lastChangedAt: row['last_changed_at'] as Date | null,
  lastFollowUpAt: row['last_follow_up_at'] as Date | null,
  checkCount: row['check_count'] as number,
  followUpCount: row['follow_up_count'] as number,
  lastError: row['last_error'] as string | null,
  pausedReason: row['paused_reason'] as string | null,
});
