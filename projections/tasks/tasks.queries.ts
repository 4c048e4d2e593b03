import { Injectable } from '@nestjs/common';
import type { Row } from 'postgres';
import type { TaskResult } from '../../src/work/tasks/task.events.js';
import { ReadModels } from '../read-models.js';

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

@Injectable()
export class TaskQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** Status and result as one: they are read from one row. */
  async byId(taskId: string): Promise<TaskRecord | undefined> {
    const rows = await this.readModels.sql`select * from tasks.task where task_id = ${taskId}`;
    return rows.map(asRecord)[0];
  }

  /**
   * Tasks that somebody should be at: queued before a time, due for a retry, or started. Owners take turns, and of each those come
   * first that stand still longest: more than the limit of one owner's would keep all others' out.
   */
  async unfinished(now: Date, queuedBefore: Date, limit: number): Promise<readonly TaskRecord[]> {
    const rows = await this.readModels.sql`
      select * from tasks.task
      where status not in ('succeeded', 'failed')
        and (status <> 'waiting' or due_at <= ${now}) and (status <> 'queued' or changed_at <= ${queuedBefore})
      order by row_number() over (partition by owner_id order by changed_at), changed_at limit ${limit}`;
    return rows.map(asRecord);
  }
}

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
