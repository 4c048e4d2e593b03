import { expect, it } from '@jest/globals';
import type { TaskQueries, TaskRecord } from '../../../projections/tasks/tasks.queries.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessWorkQueue } from '../../platform/messaging/work-queue/in-process-work-queue.js';
import { holdLease } from '../../kernel/lease.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { SweepTasks } from './sweep-tasks.ticker.js';
import { TASK_QUEUE, taskLease } from './task.policy.js';
import { TaskRunners } from './task-runner.port.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(START + seconds * 1000);

type WorkStatus = Pick<TaskRecord, 'taskId' | 'status'>;

/** A sweep over tasks that were queued before the service started, with their statuses. */
function world(tasks: readonly WorkStatus[]) {
  const statuses = new Map(tasks.map((task) => [task.taskId, task]));
  const bounds: Date[] = [];
  const isStarted = ({ status }: WorkStatus) => status === 'started' || status === 'progressed';
  const recordsOf = (some: readonly WorkStatus[], limit: number) => some.slice(0, limit).map((task) => ({ ...task, attempt: 1 }));
  const started = async (limit: number, after?: WorkStatus) => {
    const all = [...statuses.values()].filter(isStarted);
    return recordsOf(all.slice(all.findIndex(({ taskId }) => taskId === after?.taskId) + 1), limit);
  };
  const unstarted = async (_now: Date, queuedBefore: Date, limit: number) => {
    bounds.push(queuedBefore);
    return recordsOf(
      [...statuses.values()].filter((task) => !isStarted(task)),
      limit,
    );
  };
  const keyValue = new InProcessKeyValue();
  const queue = new InProcessWorkQueue();
  const sweep = new SweepTasks({ started, unstarted } as unknown as TaskQueries, keyValue, queue, new TaskRunners());
  const nudged: string[] = [];
  const stopping = new AbortController();
  const consuming = queue.consume(TASK_QUEUE, { concurrency: 1, signal: stopping.signal }, async (taskId) => {
    nudged.push(taskId);
    statuses.delete(taskId);
  });
  const close = () => {
    stopping.abort();
    return consuming;
  };
  return { sweep, keyValue, bounds, nudged, close };
}
const queued = (count: number) =>
  Array.from({ length: count }, (_, index): WorkStatus => ({ taskId: `t${index}`, status: 'queued' }));

it('after a start all queued tasks are nudged, afterwards only those that have waited 30 seconds', async () => {
  const { sweep, bounds, nudged, close } = world(queued(1_200));
  for (let second = 0; second < 5; second++) {
    await sweep.tick(at(second));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await close();
  expect(new Set(nudged).size).toBe(1_200);
  const ages = bounds.map((bound, second) => (at(second).getTime() - bound.getTime()) / 1000);
  expect(ages).toEqual([0, 0, 0, 30, 30]);
});

it('a started task is nudged when no worker holds its lease', async () => {
  const { sweep, keyValue, nudged, close } = world([
    { taskId: 'held', status: 'started' },
    { taskId: 'lost', status: 'progressed' },
  ]);
  const lease = await holdLease(keyValue, taskLease('held'), {
    ttlMs: 60_000,
    renewMs: 20_000,
    holder: 'somebody',
    timing: systemTiming,
    ids: systemIds,
  });
  await sweep.tick(at(0));
  await new Promise((resolve) => setImmediate(resolve));
  expect(nudged).toEqual(['lost']);
  await lease!.release();
  await sweep.tick(at(3));
  await close();
  expect(nudged).toEqual(['lost', 'held']);
});

it('a task whose worker was lost is nudged before the tasks that have waited longer', async () => {
  const { sweep, nudged, close } = world([...queued(1_200), { taskId: 'lost', status: 'started' }]);
  await sweep.tick(at(0));
  await new Promise((resolve) => setImmediate(resolve));
  await close();
  expect(nudged[0]).toBe('lost');
});
