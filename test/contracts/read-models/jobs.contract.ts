import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { JobQueries } from '../../../projections/jobs/jobs.queries.js';
import { type JobEvent, jobStream } from '../../../src/background/jobs/job.events.js';
import { jobStarted } from '../../support/jobs.js';
import type { ReadModelUnderTest } from './read-model.subject.js';

const minute = (count: number) => new Date(Date.UTC(2026, 0, 1, 0, count));
const blob = { sha256: 'a'.repeat(64), size: 7 };

type JobAfter = Readonly<{ type: JobEvent['type'] } & Record<string, unknown>>;
const ended = (count: number) => ({ endedAt: minute(count).toISOString() });

const ids = (found: readonly { jobId: string }[]) => found.map(({ jobId }) => jobId);

type Queries = Pick<JobQueries, 'working' | 'unreported'>;

/** The contract of the queries for running jobs and for those whose end is not reported yet. */
export function jobsContract(setUp: () => Promise<ReadModelUnderTest<Queries>>): void {
  let state: ReadModelUnderTest<Queries>;
  let queries: Queries;

  /** Adds a job that started at this minute, with later events. */
  async function given(jobId: string, began: number, more: Parameters<typeof jobStarted>[0], ...after: readonly JobAfter[]) {
    const started = jobStarted({ jobId, begunAt: minute(began).toISOString(), ...more });
    const { conversationId, ownerId } = started.data;
    const events = after.map(({ type, ...data }) => ({ type, data: { jobId, conversationId, ownerId, ...data } }) as JobEvent);
    await state.given(jobStream(jobId), [started, ...events]);
  }

  beforeAll(async () => {
    state = await setUp();
    ({ queries } = state);
    const said = { type: 'JobProgressed' as const, report: { progress: 1, message: 'Reading.' }, outputTail: 'Reading.' };
    await given('working', 5, { conversationId: 'c1' }, said, { type: 'JobCancelRequested', reason: 'by-owner' });
    await given('done', 1, { conversationId: 'c1' }, { type: 'JobCompleted', ...ended(2), result: blob });
    await given('failed', 3, { conversationId: 'c1' }, { type: 'JobFailed', ...ended(4), error: 'Broken.', reason: 'tool' });
    await given('lost', 2, { toolName: 'mcp_tool' }, { type: 'JobLost', ...ended(9) }, { type: 'JobReported', by: 'follow-up' });
    await given('silent', 2, { autoResume: false }, { type: 'JobLost', ...ended(9) });
    await given('stopped', 4, { conversationId: 'c1' }, { type: 'JobCancelled', ...ended(6) });
    await given('gone', 0, { conversationId: 'c1' }, { type: 'JobCompleted', ...ended(1), result: blob }, { type: 'JobPurged' });
    await given('bobs', 6, { ownerId: 'bob', conversationId: 'c1' });
  });
  afterAll(() => state.close());

  it('finds the running jobs of all users, in pages', async () => {
    const first = await queries.working(1);
    expect(ids([...first, ...(await queries.working(5, first[0]))])).toEqual(['working', 'bobs']);
  });

  it('finds ended jobs that are to be reported and are not yet, in pages', async () => {
    const first = await queries.unreported(1);
    expect(ids([...first, ...(await queries.unreported(10, first[0]))])).toEqual(['done', 'failed']);
  });

  it('shows the result, the progress and the output of a job', async () => {
    expect(await queries.unreported(1)).toMatchObject([
      { jobId: 'done', status: 'completed', result: blob, finishedAt: minute(2) },
    ]);
    const said = { cancelRequested: true, progress: { progress: 1, message: 'Reading.' }, outputTail: 'Reading.' };
    expect(await queries.working(1)).toMatchObject([{ jobId: 'working', startedAt: minute(5), finishedAt: null, ...said }]);
  });
}
