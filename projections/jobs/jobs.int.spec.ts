import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projecting } from '../../test/support/projecting.js';
import { jobStarted } from '../../test/support/jobs.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres-for-tests.js';
import { type JobEvent, jobStream } from '../../src/background/jobs/job.events.js';
import { jobsContract } from '../../test/contracts/read-models/jobs.contract.js';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { ReadModels } from '../read-models.js';
import { jobs } from './jobs.projection.js';
import { JobQueries } from './jobs.queries.js';

const minute = (count: number) => new Date(Date.UTC(2026, 0, 1, 0, count));
const blob = { sha256: 'a'.repeat(64), size: 7 };

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: JobQueries;

/** A job that began in this minute, with the events that follow. */
async function given(jobId: string, began: number, more: Parameters<typeof jobStarted>[0], ...after: readonly JobAfter[]) {
  const started = jobStarted({ jobId, begunAt: minute(began).toISOString(), ...more });
  const { conversationId, ownerId } = started.data;
  const events = after.map(({ type, ...data }) => ({ type, data: { jobId, conversationId, ownerId, ...data } }) as JobEvent);
  await model.given(jobStream(jobId), [started, ...events]);
}
type JobAfter = Readonly<{ type: JobEvent['type'] } & Record<string, unknown>>;
const ended = (count: number) => ({ endedAt: minute(count).toISOString() });

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(jobs, database.sql);
  queries = new JobQueries(new ReadModels(database.sql));
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
afterAll(() => database.close());

const ids = (found: readonly { jobId: string }[]) => found.map(({ jobId }) => jobId);

it.each([
  ['working', { status: 'working', cancelRequested: true, finishedAt: null, reportedBy: null }],
  ['working', { progress: { progress: 1, message: 'Reading.' }, outputTail: 'Reading.' }],
  ['done', { progress: null, outputTail: null, status: 'completed', result: blob, finishedAt: minute(2) }],
  ['failed', { status: 'failed', error: 'Broken.', errorType: 'tool' }],
  ['lost', { status: 'lost', reportedBy: 'follow-up', toolName: 'mcp_tool' }],
  ['stopped', { status: 'cancelled', result: null }],
])('a job that is %s', async (jobId, status) => expect(await queries.byId(jobId)).toMatchObject(status));

it('a purged job is not found', async () => expect(await queries.byId('gone')).toBeUndefined());

it('the jobs of a conversation are those of its owner, newest first', async () => {
  expect(ids(await queries.ofConversation('alice', 'c1', 10))).toEqual(['working', 'stopped', 'failed', 'done']);
  expect(ids(await queries.ofConversation('alice', 'c1', 1))).toEqual(['working']);
});

it('the jobs that ended before a time are returned in pages', async () => {
  const first = await queries.finishedBefore(minute(9), 2);
  const all = [...first, ...(await queries.finishedBefore(minute(9), 2, first[1]))];
  expect(all).toEqual([
    { id: 'done', since: minute(2) },
    { id: 'failed', since: minute(4) },
    { id: 'stopped', since: minute(6) },
  ]);
});

it('the read model is the same after a rebuild', async () => {
  await model.expectSameAfterRebuild();
});

describe('jobs in Postgres', () => jobsContract(() => inPostgres(jobs, (readModels) => new JobQueries(readModels))));
