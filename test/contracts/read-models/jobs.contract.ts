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

/** Which jobs are under way, and of which somebody has to be told. */
export function jobsContract(setUp: () => Promise<ReadModelUnderTest<Queries>>): void {
  let state: ReadModelUnderTest<Queries>;
  let queries: Queries;

  /** A job that began in this minute, with what followed. */
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

  it('everybody’s jobs under way come in pages', async () => {
    const first = await queries.working(1);
    expect(ids([...first, ...(await queries.working(5, first[0]))])).toEqual(['working', 'bobs']);
  });

  it('unreported is what ended by itself and nobody was told of, where anybody wants to know, in pages', async () => {
    const first = await queries.unreported(1);
    expect(ids([...first, ...(await queries.unreported(10, first[0]))])).toEqual(['done', 'failed']);
  });

  it('what is shown of a job is what was said of it', async () => {
    expect(await queries.unreported(1)).toMatchObject([
      { jobId: 'done', status: 'completed', result: blob, finishedAt: minute(2) },
    ]);
    const said = { cancelRequested: true, progress: { progress: 1, message: 'Reading.' }, outputTail: 'Reading.' };
    expect(await queries.working(1)).toMatchObject([{ jobId: 'working', startedAt: minute(5), finishedAt: null, ...said }]);
  });
}
