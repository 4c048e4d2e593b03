import type { Row, Sql } from 'postgres';
import type { TaskResult } from '../../src/work/tasks/task.events.js';
import { Queries } from '../read-models.js';

type TaskStatus = 'queued' | 'started' | 'progressed' | 'waiting' | 'succeeded' | 'failed';

export type TaskRecord = Readonly<{
  taskId: string;
  kind: string;
  ownerId: string;
  status: TaskStatus;
  attempt: number;
  percent: number;
  result: TaskResult | null;
  reason: string | null;
  changedAt: Date;
}>;

export class TaskQueries extends Queries {
  /** A task. Its status and its result are consistent, because they are read from one row. */
  async byId(taskId: string): Promise<TaskRecord | undefined> {
    const rows = await this.sql`select * from tasks.task where task_id = ${taskId}`;
    return rows.map(asRecord)[0];
  }

  /** Started tasks, those without progress for the longest time first. `after`: the last item of the previous page. */
  async started(limit: number, after?: TaskRecord): Promise<readonly TaskRecord[]> {
    const { changedAt, taskId } = after ?? { changedAt: new Date(0), taskId: '' };
    const rows = await this.sql`
      select * from tasks.task
      where status in ('started', 'progressed') and (changed_at, task_id) > (${changedAt}, ${taskId})
      order by changed_at, task_id limit ${limit}`;
    return rows.map(asRecord);
  }

  /**
   * Tasks that wait for a worker: first those that are due for a retry, whose wake-up signal is used up, then those queued before
   * a time. Owners take turns, and each owner's longest waiting tasks come first. Otherwise an owner with more tasks than the
   * limit would block all others.
   */
  async unstarted(now: Date, queuedBefore: Date, limit: number): Promise<readonly TaskRecord[]> {
    const { sql } = this;
    const rows = await sql`
      select task.* from (
        select 1 as part, * from ${inTurns(sql, sql`status = 'waiting' and due_at <= ${now}`, limit)}
        union all
        select 2 as part, * from ${inTurns(sql, sql`status = 'queued' and changed_at <= ${queuedBefore}`, limit)}
      ) as unstarted join tasks.task using (task_id)
      order by part, turn, unstarted.changed_at limit ${limit}`;
    return rows.map(asRecord);
  }
}

const inTurns = (sql: Sql, which: ReturnType<Sql>, limit: number) => sql`(
  select task_id, changed_at, row_number() over (partition by owner_id order by changed_at, task_id) as turn
  from tasks.task where ${which} order by turn, changed_at limit ${limit}
) as in_turns`;

const asRecord = (row: Row): TaskRecord => ({
  taskId: row['task_id'] as string,
  kind: row['kind'] as string,
  ownerId: row['owner_id'] as string,
  status: row['status'] as TaskStatus,
  attempt: row['attempt'] as number,
  percent: row['percent'] as number,
  result: row['result'] as TaskResult | null,
  reason: row['reason'] as string | null,
  changedAt: row['changed_at'] as Date,
});
