import { expect, it } from '@jest/globals';
import type { TaskQueries, TaskRecord } from '../../../projections/tasks/tasks.queries.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessWorkQueue } from '../../platform/messaging/work-queue/in-process-work-queue.js';
import { holdLease } from '../../kernel/messaging/lease.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { SweepTasks, TASKS_IN_TURN, TASKS_PER_TICK_MAX } from './sweep-tasks.ticker.js';
import { TASK_QUEUE, taskLease } from './task.policy.js';
import { TaskRunners } from './task-runner.port.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number) => new Date(START + seconds * 1000);

type WorkStatus = Pick<TaskRecord, 'taskId' | 'status'>;

/** A sweep over tasks that were queued before the service started, with their statuses. No worker can take those that are stuck. */
function world(tasks: readonly WorkStatus[]) {
  const statuses = new Map(tasks.map((task) => [task.taskId, task]));
  const isStarted = ({ status }: WorkStatus) => status === 'started' || status === 'progressed';
  const recordsOf = (some: readonly WorkStatus[], limit: number) =>
    some.slice(0, limit).map((task) => ({ ...task, attempt: 1, changedAt: at(0) }));
  const started = async (limit: number, after?: WorkStatus) => {
    const all = [...statuses.values()].filter(isStarted);
    return recordsOf(all.slice(all.findIndex(({ taskId }) => taskId === after?.taskId) + 1), limit);
  };
  const tasksThat = (are: string) => [...statuses.values()].filter(({ status }) => status === are);
  const unstarted = async (_now: Date, limit: number) =>
    ['waiting', 'queued'].flatMap((status) => recordsOf(tasksThat(status), limit));
  const unstartedAfter = async (after: WorkStatus | undefined, status: string, _now: Date, limit: number) => {
    const all = tasksThat(status);
    return recordsOf(all.slice(all.findIndex(({ taskId }) => taskId === after?.taskId) + 1), limit);
  };
  const keyValue = new InProcessKeyValue();
  const queue = new InProcessWorkQueue();
  const timing = new VirtualTiming();
  const sweep = new SweepTasks(
    { started, unstarted, unstartedAfter } as unknown as TaskQueries,
    keyValue,
    queue,
    new TaskRunners(),
    timing,
  );
  const nudged: string[] = [];
  const stopping = new AbortController();
  const consuming = queue.consume(TASK_QUEUE, { concurrency: 1, signal: stopping.signal }, async (taskId) => {
    nudged.push(taskId);
    if (!taskId.startsWith('stuck')) statuses.delete(taskId);
  });
  const close = () => {
    stopping.abort();
    return consuming;
  };
  const add = (task: WorkStatus) => statuses.set(task.taskId, task);
  return { sweep, timing, keyValue, nudged, add, close };
}
const queued = (count: number) =>
  Array.from({ length: count }, (_, index): WorkStatus => ({ taskId: `t${index}`, status: 'queued' }));

it('after a start all queued tasks are nudged', async () => {
  const { sweep, nudged, close } = world(queued(1_200));
  for (let second = 0; second < 3; second++) {
    await sweep.tick(at(second));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await close();
  expect(new Set(nudged).size).toBe(1_200);
});

it('a queued task that the read model shows only some time after the start is nudged then', async () => {
  const { sweep, timing, nudged, add, close } = world([]);
  for (let second = 0; second < 20; second++) {
    await sweep.tick(at(second));
    await timing.pause(1_000);
  }
  add({ taskId: 'shown late', status: 'queued' });
  await sweep.tick(at(20));
  await new Promise((resolve) => setImmediate(resolve));
  await close();
  expect(nudged).toEqual(['shown late']);
});

it.each([
  ['runs with that of the store', (second: number) => at(second)],
  ['is months behind that of the store', (second: number) => new Date(at(second).getTime() - 250 * 86_400_000)],
])('a queued task whose nudge was lost is nudged 30 seconds after the sweep has seen it, when its clock %s', async (_, clock) => {
  const { sweep, timing, nudged, add, close } = world([]);
  await timing.pause(30_000);
  await sweep.tick(clock(0));
  add({ taskId: 'forgotten', status: 'queued' });
  const nudges: number[] = [];
  for (let second = 1; second <= 70; second++) {
    await timing.pause(1_000);
    await sweep.tick(clock(second));
    await new Promise((resolve) => setImmediate(resolve));
    if (nudged.splice(0).length > 0) {
      nudges.push(second);
      add({ taskId: 'forgotten', status: 'queued' });
    }
  }
  await close();
  expect(nudges).toEqual([31, 61]);
});

it('queued tasks that were beyond the page are nudged when they come into it, because they have waited as long as those before', async () => {
  const { sweep, timing, nudged, add, close } = world([]);
  await timing.pause(30_000);
  await sweep.tick(at(0));
  for (const task of queued(1_200)) add(task);
  const nudges: number[] = [];
  for (let second = 1; second <= 35; second++) {
    await timing.pause(1_000);
    await sweep.tick(at(second));
    await new Promise((resolve) => setImmediate(resolve));
    if (nudged.length > 0) nudges.push(second, nudged.splice(0).length);
  }
  await close();
  expect(nudges).toEqual([31, 500, 32, 500, 33, 200]);
});

it.each(['waiting', 'queued'] as const)(
  'a task is nudged although more %s tasks than a page has are stuck before it',
  async (status) => {
    const stuck = Array.from({ length: TASKS_PER_TICK_MAX }, (_, index): WorkStatus => ({ taskId: `stuck ${index}`, status }));
    const { sweep, timing, nudged, add, close } = world(stuck);
    await timing.pause(30_000);
    await sweep.tick(at(0));
    add({ taskId: 'lost', status: 'queued' });
    if (status === 'waiting') add({ taskId: 'due', status });
    for (let second = 1; second <= 31 + TASKS_PER_TICK_MAX / TASKS_IN_TURN; second++) {
      await timing.pause(1_000);
      await sweep.tick(at(second));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await close();
    expect(nudged.filter((taskId) => !taskId.startsWith('stuck')).sort()).toEqual(
      status === 'waiting' ? ['due', 'lost'] : ['lost'],
    );
  },
);

it('a started task is nudged when no worker holds its lease', async () => {
  const { sweep, keyValue, nudged, close } = world([
    { taskId: 'held', status: 'started' },
    { taskId: 'lost', status: 'progressed' },
  ]);
  const lease = await holdLease(keyValue, taskLease('held'), {
    ttlMs: 60_000,
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
