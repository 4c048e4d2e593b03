import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TaskQueries, TaskRecord } from '../../../projections/tasks/tasks.queries.js';
import { type TaskEvent, taskStream } from '../../../src/work/tasks/task.events.js';
import type { ReadModelUnderTest } from './read-model.subject.js';

const queued = (taskId: string): TaskEvent => ({ type: 'TaskQueued', data: { taskId, kind: 'k', ownerId: 'ann', input: {} } });
const started = (taskId: string, attempt = 1): TaskEvent => ({ type: 'TaskStarted', data: { taskId, attempt, claim: 'c' } });
const progressed = (taskId: string, percent: number): TaskEvent => ({
  type: 'TaskProgressed',
  data: { taskId, attempt: 1, percent },
});
const waiting = (taskId: string, dueAt: string): TaskEvent => ({
  type: 'TaskRetryScheduled',
  data: { taskId, attempt: 1, reason: 'x', dueAt },
});
const succeeded = (taskId: string): TaskEvent => ({
  type: 'TaskSucceeded',
  data: { taskId, attempt: 1, result: { inline: { a: [1, null] } } },
});
const failed = (taskId: string): TaskEvent => ({ type: 'TaskFailed', data: { taskId, attempt: 1, reason: 'Broken.' } });

const at = (minute: number) => ({ at: new Date(Date.UTC(2026, 0, 1, 0, minute)) });

type Queries = Pick<TaskQueries, 'byId' | 'started' | 'unstarted' | 'unstartedAfter'>;

/** The contract of the queries for the state of tasks and for tasks that a worker has to take. */
export function tasksContract(setUp: () => Promise<ReadModelUnderTest<Queries>>): void {
  let state: ReadModelUnderTest<Queries>;
  let queries: Queries;
  const given = (taskId: string, minute: number, ...events: TaskEvent[]) => state.given(taskStream(taskId), events, at(minute));

  beforeAll(async () => {
    state = await setUp();
    ({ queries } = state);
    await given('queued', 5, queued('queued'));
    await given('fresh', 9, queued('fresh'));
    await given('running', 4, queued('running'), started('running'), progressed('running', 40));
    await given('due', 3, queued('due'), started('due'), waiting('due', '2026-01-01T00:09:00Z'));
    await given('later', 2, queued('later'), started('later'), waiting('later', '2026-01-01T00:11:00Z'));
    await given('again', 1, queued('again'), started('again'), waiting('again', '2026-01-01T00:02:00Z'), started('again', 2));
    await given('done', 0, queued('done'), started('done'), succeeded('done'));
    await given('failed', 0, queued('failed'), started('failed'), failed('failed'));
    await given('back', 0, queued('back'), started('back'), { type: 'TaskRequeued', data: { taskId: 'back', attempt: 1 } });
  });
  afterAll(() => state.close());

  it.each([
    ['queued', { status: 'queued', attempt: 0, result: null }],
    ['running', { status: 'progressed', percent: 40, attempt: 1 }],
    ['due', { status: 'waiting', reason: 'x' }],
    ['again', { status: 'started', attempt: 2, percent: 0, reason: null }],
    ['done', { status: 'succeeded', result: { inline: { a: [1, null] } } }],
    ['failed', { status: 'failed', reason: 'Broken.' }],
    ['back', { status: 'queued', attempt: 1 }],
  ])('shows the state of the task %s', async (taskId, status) => expect(await queries.byId(taskId)).toMatchObject(status));

  it('knows no task that was not queued', async () => expect(await queries.byId('other')).toBeUndefined());

  const idsOf = (found: readonly TaskRecord[]) => found.map(({ taskId }) => taskId);

  it('finds started tasks in pages, those without progress for longest first', async () => {
    const first = await queries.started(1);
    expect(idsOf(first)).toEqual(['again']);
    expect(idsOf(await queries.started(2, first[0]))).toEqual(['running']);
  });

  it('finds waiting tasks, except those scheduled for later, and due retries before any backlog', async () => {
    const now = at(10).at;
    expect(idsOf(await queries.unstarted(now, 10))).toEqual(['due', 'back', 'queued', 'fresh']);
  });

  it('finds as many queued tasks as due retries, so that neither hides the others', async () => {
    expect(idsOf(await queries.unstarted(at(10).at, 1))).toEqual(['due', 'back']);
  });

  it('finds all waiting tasks in pages', async () => {
    const ofEve: TaskEvent = { type: 'TaskQueued', data: { taskId: 'of eve', kind: 'k', ownerId: 'eve', input: {} } };
    await given('of eve', 0, ofEve);
    const now = at(10).at;
    const first = await queries.unstartedAfter(undefined, 'queued', now, 2);
    expect(idsOf(first)).toEqual(['back', 'queued']);
    const second = await queries.unstartedAfter(first.at(-1), 'queued', now, 2);
    expect(idsOf(second)).toEqual(['fresh', 'of eve']);
    expect(await queries.unstartedAfter(second.at(-1), 'queued', now, 2)).toEqual([]);
    const due = await queries.unstartedAfter(undefined, 'waiting', now, 2);
    expect(idsOf(due)).toEqual(['due']);
    expect(await queries.unstartedAfter(due[0], 'waiting', now, 2)).toEqual([]);
    await given('of eve', 9, started('of eve'), succeeded('of eve'));
  });

  it('finds queued tasks by any clock', async () => {
    expect(idsOf(await queries.unstarted(at(-100_000).at, 10))).toEqual(['back', 'queued', 'fresh']);
  });

  it('alternates between owners with waiting tasks', async () => {
    const ofBob: TaskEvent = { type: 'TaskQueued', data: { taskId: 'of bob', kind: 'k', ownerId: 'bob', input: {} } };
    await given('of bob', 7, ofBob);
    expect(idsOf(await queries.unstarted(at(10).at, 2))).toEqual(['due', 'back', 'of bob']);
    await given('of bob', 9, started('of bob'), succeeded('of bob'));
  });

  it('shows the result of a task whatever characters it contains', async () => {
    const result = { inline: { text: 'Nul\0', ['key\0']: ['\ud800'] } };
    await given('nul', 0, queued('nul'), started('nul'), { type: 'TaskSucceeded', data: { taskId: 'nul', attempt: 1, result } });
    await given('nul failed', 0, queued('nul failed'), started('nul failed'), {
      type: 'TaskFailed',
      data: { taskId: 'nul failed', attempt: 1, reason: 'Nul\0' },
    });
    expect((await queries.byId('nul'))?.result).toEqual({ inline: { text: 'Nul\uFFFD', ['key\uFFFD']: ['\uFFFD'] } });
    expect((await queries.byId('nul failed'))?.reason).toBe('Nul\uFFFD');
  });

  it('no longer finds a purged task', async () => {
    await given('old', 0, queued('old'), started('old'), succeeded('old'), {
      type: 'TaskPurged',
      data: { taskId: 'old', kind: 'k', ownerId: 'ann', result: null },
    });
    expect(await queries.byId('old')).toBeUndefined();
  });
}
