import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type RunEvent, runStream } from '../../src/background/runs/run.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { LOG_BEGINNING_CHARACTERS, LOG_TEXTS_BYTES_MAX } from '../analytics-filters.js';
import { ReadModels } from '../read-models.js';
import { RunLogQueries } from './run-log.queries.js';
import { runs } from './runs.projection.js';
import { RunQueries } from './runs.queries.js';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 9, minute));
const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured: false };
const ALL = ['success', 'failed', 'timeout', 'refused'] as const;

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: RunQueries;

const given = (runId: string, minute: number, ...events: RunEvent[]) => model.given(runStream(runId), events, { at: at(minute) });
const queued = (runId: string, minute: number, more: Partial<Extract<RunEvent, { type: 'RunQueued' }>['data']> = {}) =>
  given(runId, minute, {
    type: 'RunQueued',
    data: { runId, ownerId: 'ann', agentId: 'guide', trigger: 'webhook', input: '{}', ...more },
  });
const started = (runId: string, minute: number, attempt = 1) =>
  given(runId, minute, { type: 'RunStarted', data: { runId, attempt, settings: turnSettings() } });
const finished = (runId: string, minute: number, error: { text: string; code: null } | null = null) =>
  given(runId, minute, {
    type: 'RunFinished',
    data: { runId, attempt: 1, ...parts, modelId: 'm', usage: null, error },
  });
const ids = (records: readonly Readonly<{ id: string }>[]) => records.map(({ id }) => id);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(runs, database.sql);
  queries = new RunQueries(new ReadModels(database.sql));
  await queued('answered', 1);
  await started('answered', 2);
  await finished('answered', 5);
  await queued('given-up', 3, { agentId: 'other' });
  await started('given-up', 4);
  await finished('given-up', 6, { text: 'The model\0 gave up.', code: null });
  await queued('failed', 7);
  await started('failed', 8, 2);
  await started('failed', 9, 3);
  await given('failed', 10, { type: 'RunFailed', data: { runId: 'failed', error: 'Broken.' } });
  await queued('slow', 11);
  await started('slow', 12);
  await given('slow', 13, { type: 'RunFailed', data: { runId: 'slow', error: 'Too long.', reason: 'timeout' } });
  await queued('refused', 14);
  await given('refused', 14, { type: 'RunRefused', data: { runId: 'refused', reason: 'quota_exceeded', error: 'No room.' } });
  await queued('waiting', 15);
  await queued('running', 16);
  await started('running', 17);
  await queued('scheduled', 18, { trigger: 'schedule' });
  await started('scheduled', 18);
  await finished('scheduled', 19);
  await queued('bobs', 20, { ownerId: 'bob' });
  await finished('bobs', 21);
});
afterAll(() => database.close());

it('webhook runs are listed only for their owner with their outcome, the newest first', async () => {
  const all = await queries.finished('ann', { since: at(0), statuses: ALL }, 10);
  expect(all.map(({ id, status, error }) => [id, status, error])).toEqual([
    ['refused', 'refused', 'No room.'],
    ['slow', 'timeout', 'Too long.'],
    ['failed', 'failed', 'Broken.'],
    ['given-up', 'success', 'The model\uFFFD gave up.'],
    ['answered', 'success', null],
  ]);
  expect(all[2]).toEqual({
    id: 'failed',
    agentId: 'guide',
    status: 'failed',
    attempt: 3,
    error: 'Broken.',
    queuedAt: at(7),
    startedAt: at(8),
    finishedAt: at(10),
  });
  expect(ids(await queries.finished('bob', { since: at(0), statuses: ALL }, 10))).toEqual(['bobs']);
});

it('runs can be filtered by status, agent and time, up to a limit', async () => {
  const found = async (more: object, limit = 10) =>
    ids(await queries.finished('ann', { since: at(0), statuses: ALL, ...more }, limit));
  expect(await found({ statuses: ['failed', 'timeout'] })).toEqual(['slow', 'failed']);
  expect(await found({ agentIds: ['other'] })).toEqual(['given-up']);
  expect(await found({ agentIds: [] })).toEqual([]);
  expect(await found({ since: at(7) })).toEqual(['refused', 'slow', 'failed']);
  expect(await found({}, 2)).toEqual(['refused', 'slow']);
});

it('unfinished runs are under way', async () => {
  const under = await queries.underWay('ann', 10);
  expect(under.map(({ id, status }) => [id, status])).toEqual([
    ['running', 'running'],
    ['waiting', 'queued'],
  ]);
  expect(ids(await queries.underWay('ann', 1))).toEqual(['running']);
});

it('runs are counted by the time at which they were queued, without refused ones', async () => {
  expect(await queries.counts('ann', at(0))).toEqual({ runs: 4, failed: 2 });
  expect(await queries.counts('ann', at(7))).toEqual({ runs: 2, failed: 2 });
});

it('purged runs are removed', async () => {
  await queued('old', 0);
  await finished('old', 0);
  const purged = { ownerId: 'ann', agentId: 'guide', trigger: 'webhook', delivery: null, used: [] } as const;
  await given('old', 30, { type: 'RunPurged', data: { runId: 'old', ...purged, purgedAt: at(30).toISOString() } });
  expect(ids(await queries.finished('ann', { since: at(0), statuses: ALL }, 10))).not.toContain('old');
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  await model.again();
  expect(await queries.counts('ann', at(0))).toEqual({ runs: 4, failed: 2 });
  await model.expectSameAfterRebuild();
});

it('the log shows the beginnings of older texts once the newer ones fill a page', async () => {
  const input = 'x'.repeat(1024 * 1024);
  const log = new RunLogQueries(new ReadModels(database.sql));
  const runIds = Array.from({ length: LOG_TEXTS_BYTES_MAX / input.length + 1 }, (_, index) => `long-${index}`);
  for (const [index, runId] of runIds.entries()) {
    await queued(runId, 30 + index, { ownerId: 'cleo', input });
    await finished(runId, 30 + index);
  }
  const entries = await log.entries(runIds);
  const shortened = entries.filter(({ isShortened }) => isShortened);
  expect(shortened.map(({ id, summary }) => [id, summary])).toEqual([['long-0', input.slice(0, LOG_BEGINNING_CHARACTERS)]]);
  expect(entries.filter(({ summary }) => summary === input)).toHaveLength(runIds.length - 1);
});
