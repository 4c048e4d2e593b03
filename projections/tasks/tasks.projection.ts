import { taskCodec } from '../../src/work/tasks/task.codec.js';
import type { TaskEvent } from '../../src/work/tasks/task.events.js';
import { defineProjection, removeFrom } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** The state and the result of every task. */
export const tasks = defineProjection<TaskEvent>({
  name: 'tasks',
  categories: ['task'],
  codec: taskCodec,
  ddl: new URL('./tasks.sql', import.meta.url),

  on: {
    TaskQueued: ({ data, at }, sql) => sql`
      insert into task (task_id, kind, owner_id, status, queued_at, changed_at)
      values (${data.taskId}, ${data.kind}, ${data.ownerId}, 'queued', ${at}, ${at})
      on conflict (task_id) do nothing`,

    TaskStarted: ({ data, at }, sql) => sql`
      update task set status = 'started', attempt = ${data.attempt}, percent = 0, due_at = null, reason = null, changed_at = ${at}
      where task_id = ${data.taskId}`,

    TaskProgressed: ({ data, at }, sql) => sql`
      update task set status = 'progressed', percent = ${data.percent}, changed_at = ${at} where task_id = ${data.taskId}`,

    TaskRetryScheduled: ({ data, at }, sql) => sql`
      update task set status = 'waiting', reason = ${asText(data.reason)}, due_at = ${data.dueAt}, changed_at = ${at}
      where task_id = ${data.taskId}`,

    TaskRequeued: ({ data, at }, sql) => sql`
      update task set status = 'queued', changed_at = ${at} where task_id = ${data.taskId}`,

    TaskSucceeded: ({ data, at }, sql) => sql`
      update task set status = 'succeeded', percent = 100, result = ${sql.json(asJsonb(data.result))}, reason = null, changed_at = ${at}
      where task_id = ${data.taskId}`,

    TaskFailed: ({ data, at }, sql) => sql`
      update task set status = 'failed', reason = ${asText(data.reason)}, changed_at = ${at} where task_id = ${data.taskId}`,

    TaskPurged: ({ data }) => removeFrom('task', { task_id: data.taskId }),
  },
});
