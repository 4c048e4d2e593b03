import type { AnalyticsScope, AnalyticsWindow } from '../analytics-filters.js';
import { Queries } from '../read-models.js';

export type ScheduleRunsOfBucket = Readonly<{ bucket: string; completed: number; failed: number; skipped: number }>;

/** The outcomes of scheduled runs by the time of their end. A slot without a run counts as skipped at the time of the slot. */
export class ScheduleAnalyticsQueries extends Queries {
  async runs(scope: AnalyticsScope, { since, until, format }: AnalyticsWindow): Promise<readonly ScheduleRunsOfBucket[]> {
    const { sql } = this;
    return sql<ScheduleRunsOfBucket[]>`
      select to_char(at at time zone 'UTC', ${format}) as bucket,
        count(*) filter (where status = 'success')::integer as completed,
        count(*) filter (where status in ('failed', 'timeout'))::integer as failed,
        count(*) filter (where status in ('skipped', 'missed'))::integer as skipped
      from (
        select run.status, coalesce(finished_at, started_at, scheduled_for) as at
        from schedules.schedule join schedules.run using (schedule_id)
        where ${'agentId' in scope ? sql`agent_id = ${scope.agentId}` : sql`owner_id = ${scope.ownerId}`}
          and run.status in ('success', 'failed', 'timeout', 'skipped', 'missed')
      ) ended
      where at >= ${since} and at <= ${until}
      group by 1 order by 1`;
  }
}
