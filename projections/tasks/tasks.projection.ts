import { taskCodec } from '../../src/work/tasks/task.codec.js';
import type { TaskEvent } from '../../src/work/tasks/task.events.js';
import { changeIn, type Columns, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** The state and the result of every task. */
export const tasks = defineProjection<TaskEvent>({
  name: 'tasks',
  categories: ['task'],
  codec: taskCodec,
  ddl: new URL('./tasks.sql', import.meta.url),
  indexesLast: true,

  on: {
    TaskQueued: ({ data: { taskId, kind, ownerId }, at }) =>
      insertInto('task', { task_id: taskId, kind, owner_id: ownerId, status: 'queued', queued_at: at, changed_at: at }),
    TaskStarted: ({ data: { taskId, attempt }, at }) =>
      changed(taskId, { status: 'started', attempt, percent: 0, due_at: null, reason: null, changed_at: at }),
    TaskProgressed: ({ data: { taskId, percent }, at }) => changed(taskId, { status: 'progressed', percent, changed_at: at }),
    TaskRetryScheduled: ({ data: { taskId, reason, dueAt }, at }) =>
      changed(taskId, { status: 'waiting', reason: asText(reason), due_at: dueAt, changed_at: at }),
    TaskRequeued: ({ data: { taskId }, at }) => changed(taskId, { status: 'queued', changed_at: at }),
    TaskSucceeded: ({ data: { taskId, result }, at }) =>
      changed(taskId, { status: 'succeeded', percent: 100, result: asJsonb(result), reason: null, changed_at: at }),
    TaskFailed: ({ data: { taskId, reason }, at }) =>
      changed(taskId, { status: 'failed', reason: asText(reason), changed_at: at }),
    TaskPurged: ({ data }) => removeFrom('task', { task_id: data.taskId }),
  },
});

const changed = (taskId: string, values: Columns) => changeIn('task', { task_id: taskId }, values);
