import { Injectable } from '@nestjs/common';
import { ReadModels } from '../read-models.js';
import type { ScheduleRunStatus } from './schedules.queries.js';

/** A schedule's run that is not over. */
export type OpenScheduleRun = Readonly<{
  runId: string;
  scheduleId: string;
  agentId: string | null;
  title: string;
  status: 'pending' | 'running';
  scheduledFor: Date;
  startedAt: Date | null;
}>;

/** A schedule that does nothing until somebody resumes it. */
export type PausedSchedule = Readonly<{
  scheduleId: string;
  agentId: string | null;
  title: string;
  isAutoPaused: boolean;
  failuresInARow: number;
  lastRunAt: Date | null;
}>;

export type ComingSchedule = Readonly<{ scheduleId: string; agentId: string | null; title: string; at: Date }>;

/** A run that is over, or a slot that came to none. */
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

/** Which of them: due since a time, missed only before another, of one of these statuses, with a text in their title. */
export type PastScheduleRuns = Readonly<{
  since: Date;
  missedUntil: Date;
  statuses: readonly ScheduleRunStatus[];
  text: string;
}>;

/** What a user's schedules do now, did and will do next. */
@Injectable()
export class ScheduleHistoryQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** Runs that are not over, the newest first. */
  async openRuns(ownerId: string, limit: number): Promise<readonly OpenScheduleRun[]> {
    return this.sql<OpenScheduleRun[]>`
      select run_id as "runId", ${this.about}, run.status, scheduled_for as "scheduledFor", started_at as "startedAt"
      from schedules.schedule join schedules.run on run_id = open_run_id
      where owner_id = ${ownerId} and run.status in ('pending', 'running')
      order by scheduled_for desc, run_id limit ${limit}`;
  }

  /** Paused schedules, first those that paused themselves. */
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

  /** Runs that are over and slots that came to none, the latest first. Of each schedule only so many can be among the first so many. */
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

  /** How many runs were due since a time and are over. */
  async counts(ownerId: string, since: Date): Promise<Readonly<{ runs: number; failed: number }>> {
    const [counts] = await this.sql<{ runs: number; failed: number }[]>`
      select count(*)::integer as runs, count(*) filter (where run.status <> 'success')::integer as failed
      from schedules.schedule join schedules.run using (schedule_id)
      where owner_id = ${ownerId} and scheduled_for >= ${since} and run.status in ('success', 'failed', 'timeout')`;
    return counts!;
  }

  private get sql() {
    return this.readModels.sql;
  }

  private get about() {
    return this.sql`schedule.schedule_id as "scheduleId", agent_id as "agentId", ${this.title} as title`;
  }

  /** What a schedule is called; one without a name by how its instruction begins. */
  private get title() {
    return this.sql`coalesce(name, left(split_part(btrim(instruction, E' \t\r\n'), E'\n', 1), 80))`;
  }
}
