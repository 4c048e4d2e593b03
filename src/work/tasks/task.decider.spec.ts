import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import {
  failAttempt,
  failForGood,
  purgeTask,
  requeue,
  progress,
  queueTask,
  startTask,
  succeed,
  type Task,
  task,
} from './task.decider.js';
import type { TaskEvent, TaskResult } from './task.events.js';
import { RETRIES_MAX } from './task.policy.js';

const taskId = 't1';
const now = new Date('2026-01-01T00:00:00.000Z');
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const data = { taskId, kind: 'k', ownerId: 'u', input: {} };
const queued: TaskEvent = { type: 'TaskQueued', data };
const started = (attempt: number, claim = `c${attempt}`): TaskEvent => ({
  type: 'TaskStarted',
  data: { taskId, attempt, claim },
});
const retry = (attempt: number, reason: string, dueAt: Date): TaskEvent => ({
  type: 'TaskRetryScheduled',
  data: { taskId, attempt, reason, dueAt: dueAt.toISOString() },
});
const lost = (attempt: number) => retry(attempt, 'The worker was lost.', now);
const inline = { inline: 1 };

describe('a queued task', () => {
  it('is started by the first claim', () =>
    given(task, [queued])
      .when(startTask(taskId, 'c1', now))
      .then([started(1)]));
  it('is not queued twice', () => given(task, [queued]).when(queueTask(data)).thenNothing());
});

describe('a started task', () => {
  it('starts another attempt after its worker was lost', () =>
    given(task, [queued, started(1)])
      .when(startTask(taskId, 'c2', now))
      .then([lost(1), started(2)]));
  it('waits for a growing delay when its worker is lost repeatedly', () => {
    const lostAgain = retry(2, 'The worker was lost.', at(1_000));
    const past = [queued, started(1), lost(1), started(2)];
    given(task, past)
      .when(startTask(taskId, 'c3', now))
      .then([lostAgain]);
    given(task, [...past, lostAgain])
      .when(startTask(taskId, 'c4', now))
      .thenRejected('task-not-due');
    given(task, [...past, lostAgain, started(3)])
      .when(startTask(taskId, 'c5', now))
      .then([retry(3, 'The worker was lost.', at(5_000))]);
  });
  it('records progress only when it increases', () => {
    const half: TaskEvent = { type: 'TaskProgressed', data: { taskId, attempt: 1, percent: 50 } };
    given(task, [queued, started(1)])
      .when(progress(taskId, 1, 50))
      .then([half]);
    given(task, [queued, started(1), half])
      .when(progress(taskId, 1, 50))
      .thenNothing();
  });
  it('rejects what a superseded attempt reports', () => {
    const past = [queued, started(1), lost(1), started(2)];
    given(task, past)
      .when(progress(taskId, 1, 50))
      .thenRejected('task-attempt-superseded');
    given(task, past)
      .when(succeed(taskId, 1, inline))
      .thenRejected('task-attempt-superseded');
    given(task, past)
      .when(failAttempt(taskId, 1, 'x', now))
      .thenRejected('task-attempt-superseded');
    given(task, past).when(requeue(taskId, 1)).thenNothing();
  });
  it('starts again after it was requeued, without a counted failure', () => {
    const back: TaskEvent = { type: 'TaskRequeued', data: { taskId, attempt: 1 } };
    given(task, [queued, started(1)])
      .when(requeue(taskId, 1))
      .then([back]);
    given(task, [queued, started(1), back])
      .when(startTask(taskId, 'c2', now))
      .then([started(2)]);
  });
});

describe('a failed attempt', () => {
  it('is repeated after a growing delay and no earlier', () => {
    given(task, [queued, started(1)])
      .when(failAttempt(taskId, 1, 'x', now))
      .then([retry(1, 'x', at(1_000))]);
    const waiting = [queued, started(1), retry(1, 'x', at(1_000))];
    given(task, waiting)
      .when(startTask(taskId, 'c2', now))
      .thenRejected('task-not-due');
    given(task, waiting)
      .when(startTask(taskId, 'c2', at(1_000)))
      .then([started(2)]);
    given(task, [...waiting, started(2)])
      .when(failAttempt(taskId, 2, 'y', now))
      .then([retry(2, 'y', at(5_000))]);
  });
  it('that is reported again, while the task waits or after it has failed, adds no event', () => {
    const waiting = [queued, started(1), retry(1, 'x', at(1_000))];
    const failed: TaskEvent = { type: 'TaskFailed', data: { taskId, attempt: 1, reason: 'x' } };
    for (const past of [waiting, [queued, started(1), failed]]) {
      given(task, past)
        .when(failAttempt(taskId, 1, 'x', now))
        .thenNothing();
    }
    given(task, [queued, started(1), failed])
      .when(failForGood(taskId, 1, 'x'))
      .thenNothing();
  });
  it('fails the task after the last retry, also when its worker was lost', () => {
    const past = [queued, started(1), lost(1), started(2), lost(2), started(3), lost(3), started(4)];
    const failed = (reason: string): TaskEvent => ({ type: 'TaskFailed', data: { taskId, attempt: 4, reason } });
    given(task, past)
      .when(failAttempt(taskId, 4, 'x', now))
      .then([failed('x')]);
    given(task, past)
      .when(startTask(taskId, 'c5', now))
      .then([failed('The worker was lost.')]);
  });
});

it('a task that was never queued cannot start', () =>
  given(task, [])
    .when(startTask(taskId, 'c1', now))
    .thenRejected('task-unknown'));

it('for any sequence of decisions, a repeated decision adds no event, an ended task does not change and failures stay within bounds', () => {
  const attempt = fc.integer({ min: 1, max: 6 });
  const decision = fc.oneof(
    fc.constant(queueTask(data)),
    fc.integer({ min: 1, max: 9 }).map((claim) => startTask(taskId, `c${claim}`, at(60_000))),
    fc.tuple(attempt, fc.integer({ min: -5, max: 120 })).map(([each, percent]) => progress(taskId, each, percent)),
    attempt.map((each) => succeed(taskId, each, inline)),
    attempt.map((each) => failForGood(taskId, each, 'x')),
    attempt.map((each) => failAttempt(taskId, each, 'x', now)),
    attempt.map((each) => requeue(taskId, each)),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 25 }), (decisions) => {
      let state: Task = task.initial;
      for (const decide of decisions) {
        const before = state;
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(task.evolve, state);
        expect(repeated(decide, state)).toEqual([]);
        if (before.status === 'succeeded' || before.status === 'failed') expect(state).toEqual(before);
        expect(state.failures).toBeLessThanOrEqual(RETRIES_MAX);
        expect(state.percent).toBeLessThanOrEqual(100);
        expect(state.attempt).toBeGreaterThanOrEqual(before.attempt);
      }
    }),
    { numRuns: 500 },
  );
});

/** Repeats a decision. A repeated claim is rejected where the task has failed or waits for a retry, which counts as no event. */
function repeated(decide: (state: Task) => readonly TaskEvent[], state: Task): readonly TaskEvent[] {
  try {
    return decide(state);
  } catch (error) {
    if (state.status === 'failed' || state.status === 'waiting') return [];
    throw error;
  }
}

describe('a task that retention purges', () => {
  const blob = { sha256: 'a'.repeat(64), size: 70_000 };
  const purged = (result: typeof blob | null): TaskEvent => ({
    type: 'TaskPurged',
    data: { taskId, kind: 'k', ownerId: 'u', result },
  });
  const succeeded = (result: TaskResult): TaskEvent => ({ type: 'TaskSucceeded', data: { taskId, attempt: 1, result } });

  it('is purged once, and the event names the result that is deleted with it', () => {
    given(task, [queued, started(1), succeeded({ blob, isOwn: true })])
      .when(purgeTask(taskId))
      .then([purged(blob)]);
    given(task, [queued, started(1), succeeded({ blob })])
      .when(purgeTask(taskId))
      .then([purged(null)]);
    given(task, [queued, started(1), succeeded(inline)])
      .when(purgeTask(taskId))
      .then([purged(null)]);
    given(task, [purged(blob)])
      .when(purgeTask(taskId))
      .thenNothing();
    given(task, []).when(purgeTask(taskId)).thenNothing();
  });
  it('is neither queued nor started again, and rejects the result of a running attempt', () => {
    given(task, [purged(null)])
      .when(queueTask(data))
      .thenNothing();
    given(task, [purged(null)])
      .when(startTask(taskId, 'c9', now))
      .thenRejected('task-over');
    given(task, [queued, started(1), purged(null)])
      .when(succeed(taskId, 1, inline))
      .thenRejected('task-attempt-superseded');
  });
});
