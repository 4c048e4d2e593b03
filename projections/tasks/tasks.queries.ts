import type { Sql } from 'postgres';
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

type Place = Pick<TaskRecord, 'ownerId' | 'changedAt' | 'taskId'>;

export class TaskQueries extends Queries {
  /** A task. Its status and its result are consistent, because they are read from one row. */
  async byId(taskId: string): Promise<TaskRecord | undefined> {
    const [row] = await this.sql<TaskRecord[]>`select ${this.columns} from tasks.task where task_id = ${taskId}`;
    return row;
  }

  /** Started tasks, those without progress for the longest time first. `after`: the last item of the previous page. */
  async started(limit: number, after?: TaskRecord): Promise<readonly TaskRecord[]> {
    const { changedAt, taskId } = after ?? { changedAt: new Date(0), taskId: '' };
    return this.sql<TaskRecord[]>`
      select ${this.columns} from tasks.task
      where status in ('started', 'progressed') and (changed_at, task_id) > (${changedAt}, ${taskId})
      order by changed_at, task_id limit ${limit}`;
  }

  /**
   * Tasks that wait for a worker: first those that are due for a retry, whose wake-up signal is used up, then those that are
   * queued, `limit` of each. Owners take turns, and each owner's longest waiting tasks come first. Otherwise an owner with more tasks
   * than the limit would block all others.
   */
  async unstarted(now: Date, limit: number): Promise<readonly TaskRecord[]> {
    const { sql } = this;
    return sql<TaskRecord[]>`
      select ${this.columns} from (
        select 1 as part, * from (${due(sql, now, limit)}) as due
        union all
        select 2 as part, * from (${queued(sql, limit)}) as queued
      ) as unstarted join tasks.task using (task_id)
      order by part, turn, since`;
  }

  /**
   * All tasks that are due for a retry, or all that are queued, in pages. `after`: the last item of the previous page. A page of
   * retries reads all that are due.
   */
  async unstartedAfter(
    after: Place | undefined,
    status: 'waiting' | 'queued',
    now: Date,
    limit: number,
  ): Promise<readonly TaskRecord[]> {
    const { sql } = this;
    const { ownerId, changedAt, taskId } = after ?? { ownerId: '', changedAt: new Date(0), taskId: '' };
    const which = status === 'waiting' ? sql`status = 'waiting' and due_at <= ${now}` : sql`status = 'queued'`;
    return sql<TaskRecord[]>`
      select ${this.columns} from tasks.task
      where ${which} and (owner_id, changed_at, task_id) > (${ownerId}, ${changedAt}, ${taskId})
      order by owner_id, changed_at, task_id limit ${limit}`;
  }

  private get columns() {
    return this.sql`task_id as "taskId", kind, owner_id as "ownerId", status, attempt, percent, result, reason,
      changed_at as "changedAt"`;
  }
}

const due = (sql: Sql, now: Date, limit: number) => sql`
  select task_id, changed_at as since, row_number() over (partition by owner_id order by changed_at, task_id) as turn
  from tasks.task where status = 'waiting' and due_at <= ${now} order by turn, since limit ${limit}`;

/** An index finds one owner after the other, and the first tasks of each. The rest of a long backlog is not read. */
const queued = (sql: Sql, limit: number) => sql`
  with recursive owner as (
    (select owner_id from tasks.task where status = 'queued' order by owner_id limit 1)
    union all
    select next.owner_id from owner cross join lateral (
      select owner_id from tasks.task where status = 'queued' and task.owner_id > owner.owner_id order by owner_id limit 1
    ) as next
  )
  select task_id, since, turn from owner cross join lateral (
    select task_id, changed_at as since, row_number() over (order by changed_at, task_id) as turn
    from tasks.task where status = 'queued' and task.owner_id = owner.owner_id order by changed_at, task_id limit ${limit}
  ) as first
  order by turn, since limit ${limit}`;
