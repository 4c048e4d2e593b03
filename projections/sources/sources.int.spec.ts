import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { projecting } from '../../test/support/projecting.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres-for-tests.js';
import { DEFAULT_SOURCE_CONFIG } from '../../src/sources/source-config.policy.js';
import { type SourceEvent, sourceStream } from '../../src/sources/source.events.js';
import { ReadModels } from '../read-models.js';
import { sources } from './sources.projection.js';
import { SourceQueries } from './sources.queries.js';

const files = [{ filename: 'a.md', sha256: 'x', size: 3 }];
const uploaded = (sourceId: string, name: string, ownerId = 'ann'): SourceEvent[] => [
  { type: 'SourceCreated', data: { sourceId, ownerId, name, config: DEFAULT_SOURCE_CONFIG } },
  { type: 'SourceIngestRequested', data: { sourceId, ingestId: `i-${sourceId}`, ownerId, files } },
];
const started = (sourceId: string): SourceEvent => ({
  type: 'SourceIngestStarted',
  data: { sourceId, ingestId: 'i', chunksId: 'c' },
});
const completed = (sourceId: string, tokens: number): SourceEvent => ({
  type: 'SourceIngestCompleted',
  data: { sourceId, ingestId: 'i', chunksId: 'c', chunks: 2, tokens },
});
const failed = (sourceId: string): SourceEvent => ({
  type: 'SourceIngestFailed',
  data: { sourceId, ingestId: 'i', reason: 'Broken.' },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: SourceQueries;
const given = (id: string, ...events: SourceEvent[]) => model.given(sourceStream(id), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(sources, database.sql);
  queries = new SourceQueries(new ReadModels(database.sql));
  await given('s1', ...uploaded('s1', 'Alpha 100%'));
  await given('s2', ...uploaded('s2', 'beta'), started('s2'), completed('s2', 50));
  await given('s3', ...uploaded('s3', 'Gamma'), started('s3'), failed('s3'));
  await given('s4', ...uploaded('s4', 'Of Bob', 'bob'));
  await given('s5', ...uploaded('s5', 'Gone'), { type: 'SourceDeleted', data: { sourceId: 's5' } });
});
afterAll(() => database.close());

it('a user sees what is theirs and not deleted, newest first', async () => {
  const own = await queries.ownedBy('ann');
  expect(own.map(({ id, ingestStatus, tokens }) => [id, ingestStatus, tokens])).toEqual([
    ['s3', 'failed', 0],
    ['s2', 'completed', 50],
    ['s1', 'requested', 0],
  ]);
  expect(own[0]).toMatchObject({ ingestReason: 'Broken.', files, config: DEFAULT_SOURCE_CONFIG });
});

it('a page is in the order asked for, of names that contain a text', async () => {
  const page = async (search: string, by: 'date' | 'name' | 'tokens', descending = false) =>
    (await queries.page('ann', search, { by, descending }, 10, 0)).records.map(({ id }) => id);
  expect(await page('', 'name')).toEqual(['s1', 's2', 's3']);
  expect(await page('', 'tokens', true)).toEqual(['s2', 's1', 's3']);
  expect(await page('ALPHA', 'date')).toEqual(['s1']);
  expect(await page('%', 'date')).toEqual(['s1']);
  expect(await queries.page('ann', '', { by: 'date', descending: true }, 1, 1)).toMatchObject({
    total: 3,
    records: [{ id: 's2' }],
  });
});

it('a source is found by itself, by its ingestion, and among the user’s own', async () => {
  expect((await queries.byId('s4'))?.ownerId).toBe('bob');
  expect((await queries.byIngest('i-s2'))?.id).toBe('s2');
  expect(await queries.ownedAmong('ann', ['s1', 's4', 's5', 'other'])).toEqual(['s1']);
});

it('says the same after a rebuild', async () => {
  await model.expectSameAfterRebuild();
});
