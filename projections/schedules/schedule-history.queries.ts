import { Queries } from '../read-models.js';
import type { ScheduleRunStatus } from './schedules.queries.js';

/** An unfinished run of a schedule. */
export type OpenScheduleRun = Readonly<{
  runId: string;
  scheduleId: string;
  agentId: string | null;
  title: string;
  status: 'pending' | 'running';
  scheduledFor: Date;
  startedAt: Date | null;
}>;

/** A schedule that does nothing until its owner resumes it. */
export type PausedSchedule = Readonly<{
  scheduleId: string;
  agentId: string | null;
  title: string;
  isAutoPaused: boolean;
  failuresInARow: number;
  lastRunAt: Date | null;
}>;

export type ComingSchedule = Readonly<{ scheduleId: string; agentId: string | null; title: string; at: Date }>;

/** A run that has ended, or a slot without a run. */
export type PastScheduleRun = Readonly<{
  runId: string;
  scheduleId: string;
  agentId: string | null;
  conversationId: string | null;
  title: string;
  status: ScheduleRunStatus;
  scheduledFor: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  error: string | null;
  errorType: string | null;
}>;

/**
 * The runs and slots to return: due since `since`, missed ones only before `missedUntil`, with one of the statuses and a text in
 * their title.
 */
export type PastScheduleRuns = Readonly<{
  since: Date;
  missedUntil: Date;
  statuses: readonly ScheduleRunStatus[];
  text: string;
}>;

/** The running, past and coming runs of a user's schedules. */
export class ScheduleHistoryQueries extends Queries {
  /** Unfinished runs, the newest first. */
  async openRuns(ownerId: string, limit: number): Promise<readonly OpenScheduleRun[]> {
    return this.sql<OpenScheduleRun[]>`
      select run_id as "runId", ${this.about}, run.status, scheduled_for as "scheduledFor", started_at as "startedAt"
      from schedules.schedule join schedules.run on run_id = open_run_id
      where owner_id = ${ownerId} and run.status in ('pending', 'running')
      order by scheduled_for desc, run_id limit ${limit}`;
  }

  /** Paused schedules. Those that the service paused come first. */
  async paused(ownerId: string, limit: number): Promise<readonly PausedSchedule[]> {
    return this.sql<PausedSchedule[]>`
      select ${this.about}, is_auto_paused as "isAutoPaused", failures_in_a_row as "failuresInARow", last_run_at as "lastRunAt"
      from schedules.schedule where owner_id = ${ownerId} and status = 'paused'
      order by is_auto_paused desc, updated_at desc, schedule_id limit ${limit}`;
  }

  /** Active schedules with their next slots, the soonest first. */
  async comingNext(ownerId: string, now: Date, limit: number): Promise<readonly ComingSchedule[]> {
    return this.sql<ComingSchedule[]>`
      select ${this.about}, next_slot_at as at from schedules.schedule
      where owner_id = ${ownerId} and status = 'active' and next_slot_at > ${now}
      order by next_slot_at, schedule_id limit ${limit}`;
  }

  /**
   * Ended runs and slots without a run, the latest first. The inner limit is enough, because only `limit` rows of a schedule can
   * be returned.
   */
  async past(ownerId: string, { since, missedUntil, statuses, text }: PastScheduleRuns, limit: number) {
    const { sql } = this;
    return sql<PastScheduleRun[]>`
      select run_id as "runId", ${this.about}, past.conversation_id as "conversationId", past.status,
        scheduled_for as "scheduledFor", started_at as "startedAt", finished_at as "finishedAt", error, error_type as "errorType"
      from schedules.schedule cross join lateral (
        select * from schedules.run
        where run.schedule_id = schedule.schedule_id and scheduled_for >= ${since} and run.status = any (${[...statuses]}::text[])
          and (run.status <> 'missed' or scheduled_for < ${missedUntil})
        order by scheduled_for desc, run_id limit ${limit}
      ) past
      where owner_id = ${ownerId} and strpos(lower(${this.title}), lower(${text})) > 0
      order by scheduled_for desc, run_id limit ${limit}`;
  }

  /** The number of runs that were due since a time and have ended, and how many of them failed. */
  async counts(ownerId: string, since: Date): Promise<Readonly<{ runs: number; failed: number }>> {
    const [counts] = await this.sql<{ runs: number; failed: number }[]>`
      select count(*)::integer as runs, count(*) filter (where run.status <> 'success')::integer as failed
      from schedules.schedule join schedules.run using (schedule_id)
      where owner_id = ${ownerId} and scheduled_for >= ${since} and run.status in ('success', 'failed', 'timeout')`;
    return counts!;
  }

  private get about() {
    return this.sql`schedule.schedule_id as "scheduleId", agent_id as "agentId", ${this.title} as title`;
  }

  /** The name of a schedule, or else the beginning of its instruction. */
  private get title() {
    return this.sql`coalesce(name, left(split_part(btrim(instruction, E' \t\r\n'), E'\n', 1), 80))`;
  }
}
