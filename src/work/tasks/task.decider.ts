import type { BlobRef } from '../../kernel/blobs.js';
import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { taskCodec } from './task.codec.js';
import type { TaskEvent, TaskId, TaskQueued, TaskResult } from './task.events.js';
import { RETRIES_MAX, RETRY_DELAYS_MS } from './task.policy.js';

/** A `waiting` task is due at `dueAt`. `succeeded`, `failed` and `purged` are final. */
type TaskStatus = 'unknown' | 'queued' | 'started' | 'waiting' | 'succeeded' | 'failed' | 'purged';

export type Task = Readonly<{
  status: TaskStatus;
  kind: string;
  ownerId: string;
  input: Readonly<Record<string, unknown>>;
  /** The number of the newest attempt; 0 before the first. */
  attempt: number;
  claim: string;
  failures: number;
  percent: number;
  dueAt: string;
  /** The blob of its result, if it has its own. */
  result: BlobRef | null;
}>;

const initial: Task = {
  status: 'unknown',
  kind: '',
  ownerId: '',
  input: {},
  attempt: 0,
  claim: '',
  failures: 0,
  percent: 0,
  dueAt: '',
  result: null,
};

export const task: Aggregate<Task, TaskEvent> = { initial, evolve, codec: taskCodec };

function evolve(state: Task, event: TaskEvent): Task {
  switch (event.type) {
    case 'TaskQueued':
      return { ...state, status: 'queued', kind: event.data.kind, ownerId: event.data.ownerId, input: event.data.input };
    case 'TaskStarted':
      return { ...state, status: 'started', attempt: event.data.attempt, claim: event.data.claim, percent: 0 };
    case 'TaskProgressed':
      return { ...state, percent: event.data.percent };
    case 'TaskRetryScheduled':
      return { ...state, status: 'waiting', failures: state.failures + 1, dueAt: event.data.dueAt };
    case 'TaskRequeued':
      return { ...state, status: 'queued' };
    case 'TaskSucceeded': {
      const { result } = event.data;
      return { ...state, status: 'succeeded', result: 'blob' in result && result.isOwn ? result.blob : null };
    }
    case 'TaskFailed':
      return { ...state, status: 'failed' };
    case 'TaskPurged':
      return { ...initial, status: 'purged', kind: event.data.kind, ownerId: event.data.ownerId };
  }
}

export const queueTask =
  (data: TaskQueued['data']): Decision<Task, TaskEvent> =>
  (state) =>
    state.status === 'unknown' ? [{ type: 'TaskQueued', data }] : [];

/**
 * Claims the task for an attempt. The caller holds the task's lease, so a started task belongs to a lost worker, which counts as
 * a failure of that attempt.
 */
export const startTask =
  (taskId: TaskId, claim: string, now: Date): Decision<Task, TaskEvent> =>
  (state) => {
    if (state.status === 'unknown') throw new Rejection('task-unknown', `There is no task ${taskId}.`);
    if (state.status === 'started' && state.claim === claim) return [];
    if (isOver(state)) throw new Rejection('task-over', `Task ${taskId} has ${state.status}.`);
    if (state.status === 'waiting' && state.dueAt > now.toISOString()) {
      throw new Rejection('task-not-due', `Task ${taskId} is due at ${state.dueAt}.`);
    }
    const started: TaskEvent = { type: 'TaskStarted', data: { taskId, attempt: state.attempt + 1, claim } };
    if (state.status !== 'started') return [started];
    // The first lost worker causes no delay. A task that loses workers repeatedly waits like any failing task.
    const delayMs = RETRY_DELAYS_MS[state.failures - 1] ?? 0;
    const lost = failedAttempt(state, taskId, 'The worker was lost.', now, delayMs);
    return lost.type === 'TaskFailed' || delayMs > 0 ? [lost] : [lost, started];
  };

export const progress =
  (taskId: TaskId, attempt: number, percent: number): Decision<Task, TaskEvent> =>
  (state) => {
    requireAttempt(state, taskId, attempt);
    return percent > state.percent && percent <= 100 ? [{ type: 'TaskProgressed', data: { taskId, attempt, percent } }] : [];
  };

export const succeed =
  (taskId: TaskId, attempt: number, result: TaskResult): Decision<Task, TaskEvent> =>
  (state) => {
    if (state.status === 'succeeded' && state.attempt === attempt) return [];
    requireAttempt(state, taskId, attempt);
    return [{ type: 'TaskSucceeded', data: { taskId, attempt, result } }];
  };

/** Fails the task finally, because further attempts would fail for the same reason. */
export const failForGood =
  (taskId: TaskId, attempt: number, reason: string): Decision<Task, TaskEvent> =>
  (state) => {
    if (state.status === 'failed' && state.attempt === attempt) return [];
    requireAttempt(state, taskId, attempt);
    return [{ type: 'TaskFailed', data: { taskId, attempt, reason } }];
  };

/** Fails an attempt. The next one is due after a growing delay, if any is left. */
export const failAttempt =
  (taskId: TaskId, attempt: number, reason: string, now: Date): Decision<Task, TaskEvent> =>
  (state) => {
    if ((state.status === 'waiting' || state.status === 'failed') && state.attempt === attempt) return [];
    requireAttempt(state, taskId, attempt);
    return [failedAttempt(state, taskId, reason, now, RETRY_DELAYS_MS[state.failures] ?? 0)];
  };

export const requeue =
  (taskId: TaskId, attempt: number): Decision<Task, TaskEvent> =>
  (state) =>
    state.status === 'started' && state.attempt === attempt ? [{ type: 'TaskRequeued', data: { taskId, attempt } }] : [];

/** Purges a task in any state, because its subject is purged too. A running attempt cannot append anything afterwards. */
export const purgeTask =
  (taskId: TaskId): Decision<Task, TaskEvent> =>
  ({ status, kind, ownerId, result }) =>
    status === 'unknown' || status === 'purged' ? [] : [{ type: 'TaskPurged', data: { taskId, kind, ownerId, result } }];

const isOver = ({ status }: Task): boolean => status === 'succeeded' || status === 'failed' || status === 'purged';

function failedAttempt({ attempt, failures }: Task, taskId: TaskId, reason: string, now: Date, delayMs: number): TaskEvent {
  if (failures >= RETRIES_MAX) return { type: 'TaskFailed', data: { taskId, attempt, reason } };
  const dueAt = new Date(now.getTime() + delayMs).toISOString();
  return { type: 'TaskRetryScheduled', data: { taskId, attempt, reason, dueAt } };
}

/** Refuses events of an attempt that was superseded. */
function requireAttempt(state: Task, taskId: TaskId, attempt: number): void {
  if (state.status === 'started' && state.attempt === attempt) return;
  throw new Rejection('task-attempt-superseded', `Attempt ${attempt} of task ${taskId} is no longer running.`);
}
