import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type BlobRef, type Blobs, BlobsUnavailable } from '../../kernel/blobs.js';
import { lastEvent, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { holdLease } from '../../kernel/messaging/lease.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { FolderBlobs } from '../../platform/blobs/folder-blobs.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessWorkQueue } from '../../platform/messaging/work-queue/in-process-work-queue.js';
import {
  EndAttemptHandler,
  ProgressTaskHandler,
  PurgeTask,
  PurgeTaskHandler,
  QueueTask,
  QueueTaskHandler,
  StartTaskHandler,
} from './task.commands.js';
import { queueTask, startTask, task } from './task.decider.js';
import { type TaskSucceeded, taskStream } from './task.events.js';
import { INLINE_BYTES_MAX } from '../../kernel/own-blobs.js';
import { TASK_QUEUE, taskLease, WORKER_LEASES } from './task.policy.js';
import { loadResult } from './task-result.js';
import { AttemptFailed, type TaskAttempt, taskIn, TaskPostponed, TaskRunner, TaskRunners } from './task-runner.port.js';
import { TaskWorker } from './task-worker.js';
import { isOutage } from '../../platform/supervision/outage.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;
const options = { concurrency: 2, leaseTtlMs: 1_000, presenceTtlMs: 1_000 };

class Scripted extends TaskRunner {
  readonly kind = 'scripted';
  runs = 0;
  constructor(private readonly script: (attempt: TaskAttempt) => Promise<unknown>) {
    super();
  }
  run(attempt: TaskAttempt): Promise<unknown> {
    this.runs++;
    return this.script(attempt);
  }
}

class AwayBlobs extends InMemoryBlobs {
  override put(): Promise<BlobRef> {
    return Promise.reject(new BlobsUnavailable('The store of blobs did not answer.'));
  }
}

let folder: string;
let now: Date;
let store: InMemoryEventStore;
let streams: Streams;
let keyValue: InProcessKeyValue;
let queue: InProcessWorkQueue;
let blobs: Blobs;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'task-worker-'));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  now = new Date('2026-01-01T00:00:00Z');
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  keyValue = new InProcessKeyValue();
  queue = new InProcessWorkQueue();
  blobs = new FolderBlobs(folder);
});

const workerWith = (runners: TaskRunners) => {
  const clock = { now: () => now };
  const commands = commandsOver(
    new StartTaskHandler(streams, clock),
    new ProgressTaskHandler(streams),
    new EndAttemptHandler(streams, clock),
  );
  const shared = { store, streams, commands, keyValue, workQueue: queue, blobs };
  return new TaskWorker({ ...shared, timing: systemTiming, ids: systemIds, runners, isOutage }, options);
};
const working = (runner: TaskRunner) => {
  const runners = new TaskRunners();
  runners.add(runner);
  return workerWith(runners);
};
const queued = async (kind = 'scripted') => {
  const taskId = newId();
  await streams.transact(taskStream(taskId), task, queueTask({ taskId, kind, ownerId: 'ann', input: { n: 1 } }), cause);
  return taskId;
};
const told = async (taskId: string) => {
  const types: string[] = [];
  for await (const page of store.read(taskStream(taskId))) types.push(...page.map(({ type }) => type));
  return types;
};
const lastOf = async (taskId: string) => (await lastEvent(store, taskStream(taskId)))!;
const never = new AbortController().signal;
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

it('runs a task and stores its progress in steps and its result', async () => {
  const taskId = await queued();
  const runner = new Scripted(async ({ input, ownerId, progress }) => {
    for (const percent of [0, 2, 50, 51, 100]) await progress(percent);
    return { input, ownerId };
  });
  await working(runner).attempt(taskId, never);
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', 'TaskProgressed', 'TaskProgressed', 'TaskSucceeded']);
  const { result } = JSON.parse((await lastOf(taskId)).data) as TaskSucceeded['data'];
  expect(result).toEqual({ inline: { input: { n: 1 }, ownerId: 'ann' } });
});

it('stores a large result as a blob', async () => {
  const taskId = await queued();
  const large = { text: 'x'.repeat(INLINE_BYTES_MAX) };
  await working(new Scripted(() => Promise.resolve(large))).attempt(taskId, never);
  const { result } = JSON.parse((await lastOf(taskId)).data) as TaskSucceeded['data'];
  expect(result).toMatchObject({ blob: { size: expect.any(Number) as unknown } });
  expect(await loadResult(blobs, result)).toEqual(large);
});

it('keeps no large result of an attempt whose task was purged meanwhile', async () => {
  Logger.overrideLogger(false);
  const kept = new InMemoryBlobs();
  blobs = kept;
  const taskId = await queued();
  const large = { text: 'x'.repeat(INLINE_BYTES_MAX) };
  const purged = new Scripted(async () => {
    await new PurgeTaskHandler(streams).execute(new PurgeTask(taskId, cause));
    return large;
  });
  await working(purged).attempt(taskId, never);
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', 'TaskPurged']);
  expect(kept.text()).toBe('');
});

it.each([
  ['its folder is gone', () => new FolderBlobs('/dev/null/blobs')],
  ['it does not answer', () => new AwayBlobs()],
])('requeues a task without a failed attempt while the blob store cannot keep its result because %s', async (_how, away) => {
  Logger.overrideLogger(false);
  const taskId = await queued();
  const large = { text: 'x'.repeat(INLINE_BYTES_MAX) };
  const runner = new Scripted(() => Promise.resolve(large));
  const there = blobs;
  blobs = away();
  const worker = working(runner);
  for (let attempt = 1; attempt <= 6; attempt++) await worker.attempt(taskId, never);
  expect(new Set(await told(taskId))).toEqual(new Set(['TaskQueued', 'TaskStarted', 'TaskRequeued']));
  blobs = there;
  await working(runner).attempt(taskId, never);
  expect((await lastOf(taskId)).type).toBe('TaskSucceeded');
});

it('repeats a failed attempt once it is due and fails the task after three retries', async () => {
  Logger.overrideLogger(false);
  const taskId = await queued();
  const runner = new Scripted(() => Promise.reject(new Error('10.0.0.7:5432 is busy')));
  const worker = working(runner);
  for (let attempt = 1; attempt <= 6; attempt++) {
    await worker.attempt(taskId, never);
    await worker.attempt(taskId, never);
    now = new Date(now.getTime() + 60_000);
  }
  expect(runner.runs).toBe(4);
  const { type, data } = await lastOf(taskId);
  expect([type, (JSON.parse(data) as { reason: string }).reason]).toEqual(['TaskFailed', 'The task failed unexpectedly.']);
});

/** The log does not take the end of an attempt for a time. */
function awayAtTheEnd(ms: number): void {
  const timing = new VirtualTiming();
  const append = store.append.bind(store);
  store.append = (stream, expected, events) =>
    isEnd(events[0]!.type) && timing.elapsedMs() < ms
      ? Promise.reject(new StoreUnavailable('down'))
      : append(stream, expected, events);
  streams = new Streams(store, timing);
}
const isEnd = (type: string): boolean => type === 'TaskSucceeded' || type === 'TaskRequeued';

it.each<[string, () => Promise<unknown>, string]>([
  ['with a result', () => Promise.resolve('done'), 'TaskSucceeded'],
  ['by an outage', () => Promise.reject(new StoreUnavailable('down')), 'TaskRequeued'],
])('records an attempt that ends %s once the event store is back', async (_, script, end) => {
  awayAtTheEnd(20_000);
  const taskId = await queued();
  await working(new Scripted(script))
    .attempt(taskId, never)
    .catch(() => undefined);
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', end]);
});

it('keeps the result of an attempt whose end may have been recorded', async () => {
  awayAtTheEnd(Infinity);
  const kept = new InMemoryBlobs();
  blobs = kept;
  const taskId = await queued();
  const large = 'x'.repeat(INLINE_BYTES_MAX + 1);
  await expect(working(new Scripted(() => Promise.resolve(large))).attempt(taskId, never)).rejects.toThrow('down');
  expect(kept.text()).toContain(large);
});

it('requeues a task without a failed attempt while a dependency is away, and lets the queue deliver its nudge again', async () => {
  const taskId = await queued();
  let isAway = true;
  const runner = new Scripted(() => (isAway ? Promise.reject(new StoreUnavailable('down')) : Promise.resolve('done')));
  const worker = working(runner);
  for (let attempt = 1; attempt <= 6; attempt++) await expect(worker.attempt(taskId, never)).rejects.toThrow('down');
  isAway = false;
  await worker.attempt(taskId, never);
  expect(new Set(await told(taskId))).toEqual(new Set(['TaskQueued', 'TaskStarted', 'TaskRequeued', 'TaskSucceeded']));
  expect(runner.runs).toBe(7);
});

it('does not retry a task that is rejected', async () => {
  const taskId = await queued();
  await working(new Scripted(() => Promise.reject(new Rejection('no', 'Broken file.')))).attempt(taskId, never);
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', 'TaskFailed']);
});

it('takes over a task from a lost worker, but not from one that holds its lease', async () => {
  const taskId = await queued();
  await streams.transact(taskStream(taskId), task, startTask(taskId, 'lost worker', now), cause);
  const lease = await holdLease(keyValue, taskLease(taskId), {
    ttlMs: 1_000,
    holder: 'other',
    timing: systemTiming,
    ids: systemIds,
  });
  const runner = new Scripted(() => Promise.resolve('done'));
  await working(runner).attempt(taskId, never);
  expect(runner.runs).toBe(0);
  await lease!.release();
  await working(runner).attempt(taskId, never);
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', 'TaskRetryScheduled', 'TaskStarted', 'TaskSucceeded']);
});

it('runs a task once although many workers are offered it several times', async () => {
  const taskId = await queued();
  const runner = new Scripted(() => Promise.resolve('done'));
  const workers = Array.from({ length: 10 }, () => working(runner));
  await Promise.all(workers.flatMap((worker) => [worker.attempt(taskId, never), worker.attempt(taskId, never)]));
  expect(runner.runs).toBe(1);
});

it('aborts an attempt whose lease was lost and ignores its result', async () => {
  const taskId = await queued();
  const aborted: unknown[] = [];
  const runner = new Scripted(async ({ signal }) => {
    await keyValue.delete(taskLease(taskId));
    await untilAborted(signal).catch((reason: unknown) => aborted.push(reason));
    return 'too late';
  });
  const runAway = working(runner).attempt(taskId, never);
  await eventually(async () => (await told(taskId)).length === 2 && (await keyValue.get(taskLease(taskId))) === undefined);
  await working(new Scripted(() => Promise.resolve('done'))).attempt(taskId, never);
  await runAway;
  expect(aborted).toHaveLength(1);
  expect((await told(taskId)).filter((type) => type === 'TaskSucceeded')).toHaveLength(1);
  expect((await lastOf(taskId)).data).toContain('done');
});

it('requeues its running tasks when it stops and ends its presence', async () => {
  const taskId = await queued();
  const stopping = new AbortController();
  const worker = working(new Scripted(({ signal }) => untilAborted(signal)));
  const work = worker.work(stopping.signal);
  await queue.enqueue(TASK_QUEUE, taskId, taskId);
  await eventually(async () => (await told(taskId)).length === 2);
  expect(await keyValue.keys(WORKER_LEASES)).toEqual([`${WORKER_LEASES}${worker.id}`]);
  stopping.abort();
  await work;
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', 'TaskRequeued']);
  expect(await keyValue.keys('')).toEqual([]);
});

it('leaves its running tasks to another worker at once when it stops', async () => {
  const taskId = await queued();
  const [stopping, staying] = [new AbortController(), new AbortController()];
  const left = working(new Scripted(({ signal }) => untilAborted(signal))).work(stopping.signal);
  await queue.enqueue(TASK_QUEUE, taskId, taskId);
  await eventually(async () => (await told(taskId)).length === 2);
  const other = working(new Scripted(() => Promise.resolve('done'))).work(staying.signal);
  stopping.abort();
  await left;
  await eventually(async () => (await lastOf(taskId)).type === 'TaskSucceeded');
  staying.abort();
  await other;
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', 'TaskRequeued', 'TaskStarted', 'TaskSucceeded']);
});

it('runs a task again at once after it has lost its lease', async () => {
  const taskId = await queued();
  const stopping = new AbortController();
  const runner = new Scripted(async ({ signal }) => {
    if (runner.runs > 1) return 'done';
    await keyValue.delete(taskLease(taskId));
    return untilAborted(signal);
  });
  const work = working(runner).work(stopping.signal);
  await queue.enqueue(TASK_QUEUE, taskId, taskId);
  await eventually(async () => (await lastOf(taskId)).type === 'TaskSucceeded');
  stopping.abort();
  await work;
  expect(await told(taskId)).toEqual(['TaskQueued', 'TaskStarted', 'TaskRequeued', 'TaskStarted', 'TaskSucceeded']);
});

it('runs kinds with their own concurrency on separate workers, so that they delay no other kind', async () => {
  const runs: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const slow = new (class extends TaskRunner {
    readonly kind = 'slow';
    override readonly concurrency = 1;
    async run({ taskId }: TaskAttempt) {
      runs.push(taskId);
      await held;
    }
  })();
  const runners = new TaskRunners();
  for (const runner of [slow, new Scripted(async () => 'done')]) runners.add(runner);
  const worker = workerWith(runners);
  const stop = new AbortController();
  const atWork = worker.work(stop.signal);
  const command = new QueueTaskHandler(streams, queue, runners);
  const queuedBy = async (kind: string) => {
    const taskId = newId();
    await command.execute(new QueueTask({ taskId, kind, ownerId: 'ann', input: {} }, cause));
    return taskId;
  };
  const slowOnes = [await queuedBy('slow'), await queuedBy('slow'), await queuedBy('slow')];
  const quick = await queuedBy('scripted');
  await eventually(async () => (await lastOf(quick)).type === 'TaskSucceeded');
  expect(runs).toEqual(slowOnes.slice(0, 1));
  release();
  for (const taskId of slowOnes) await eventually(async () => (await lastOf(taskId)).type === 'TaskSucceeded');
  stop.abort();
  await atWork;
});

it('lets owners take turns on separate workers, so that endless tasks of one owner delay no other owner', async () => {
  const flood = new (class extends TaskRunner {
    readonly kind = 'flood';
    override readonly concurrency = 3;
    override readonly perOwnerMax = 2;
    run({ ownerId, signal }: TaskAttempt) {
      return ownerId === 'ann' ? untilAborted(signal) : Promise.resolve('done');
    }
  })();
  const runners = new TaskRunners();
  runners.add(flood);
  const worker = workerWith(runners);
  const stop = new AbortController();
  const atWork = worker.work(stop.signal);
  const command = new QueueTaskHandler(streams, queue, runners);
  const queuedBy = async (ownerId: string) => {
    const taskId = newId();
    await command.execute(new QueueTask({ taskId, kind: 'flood', ownerId, input: {} }, cause));
    return taskId;
  };
  const endless: string[] = [];
  for (let task = 0; task < 500; task++) endless.push(await queuedBy('ann'));
  const [first, second] = [await queuedBy('bob'), await queuedBy('carol')];
  for (const taskId of [first, second]) await eventually(async () => (await lastOf(taskId)).type === 'TaskSucceeded');
  stop.abort();
  await atWork;
  const begun = await Promise.all(endless.map(async (taskId) => (await told(taskId)).length > 1));
  expect(begun.filter(Boolean)).toHaveLength(2);
});

it.each([
  ['there is no room', new TaskPostponed('There is no room.')],
  ['the disk has no space', new BlobsUnavailable('full', { cause: Object.assign(new Error('full'), { code: 'ENOSPC' }) })],
])('requeues a task without a failed attempt when %s', async (_what, lack) => {
  const taskId = await queued();
  let isFull = true;
  const worker = working(new Scripted(() => (isFull ? Promise.reject(lack) : Promise.resolve('done'))));
  for (let time = 0; time < 5; time++) await worker.attempt(taskId, never);
  expect((await told(taskId)).slice(-2)).toEqual(['TaskStarted', 'TaskRequeued']);
  isFull = false;
  await worker.attempt(taskId, never);
  expect((await lastOf(taskId)).type).toBe('TaskSucceeded');
});

it.each([
  ['t-1 ann', { taskId: 't-1', ownerId: 'ann' }],
  ['t-1 a name\nof two lines', { taskId: 't-1', ownerId: 'a name\nof two lines' }],
  ['t-1', { taskId: 't-1', ownerId: '' }],
])('reads the task and its owner from the nudge %j', (payload, task) => expect(taskIn(payload)).toEqual(task));

it('logs an attempt that failed outside with its task, and not the text for the owner', async () => {
  const logged: string[] = [];
  const write = (...line: readonly unknown[]) => void logged.push(line.map(String).join(' '));
  Logger.overrideLogger({ log: write, warn: write, error: write });
  const taskId = await queued();
  const failure = new AttemptFailed('https://shop.example/?key=hidden did not answer.');
  await working(new Scripted(() => Promise.reject(failure))).attempt(taskId, never);
  Logger.overrideLogger(false);
  expect((await lastOf(taskId)).type).toBe('TaskRetryScheduled');
  expect(logged).toEqual([expect.stringContaining(`Attempt 1 of task ${taskId} failed`)]);
  expect(logged[0]).not.toContain('hidden');
});

it('leaves tasks of an unknown kind to other workers', async () => {
  const taskId = await queued('unheard-of');
  await working(new Scripted(() => Promise.resolve())).attempt(taskId, never);
  expect(await told(taskId)).toEqual(['TaskQueued']);
});

it('does not retain the signal of a finished attempt that has listeners', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  let signalOf: WeakRef<AbortSignal> | undefined;
  const runner = new Scripted(async ({ signal }) => {
    signalOf = new WeakRef(signal);
    signal.addEventListener('abort', () => undefined);
  });
  await working(runner).attempt(await queued(), never);
  await eventually(() => {
    collectGarbage();
    return signalOf!.deref() === undefined;
  });
});
