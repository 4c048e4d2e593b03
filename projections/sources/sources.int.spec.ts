import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { projecting } from '../../test/support/projecting.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres-for-tests.js';
import { DEFAULT_SOURCE_CONFIG } from '../../src/resources/sources/source/source-config.policy.js';
import { type SourceEvent, sourceStream } from '../../src/resources/sources/source/source.events.js';
import { ReadModels } from '../read-models.js';
import { sources } from './sources.projection.js';
import { SourceQueries } from './sources.queries.js';

const files = [{ filename: 'a.md', sha256: 'x', size: 3 }];
const uploaded = (sourceId: string, name: string, ownerId = 'ann'): SourceEvent[] => [
  { type: 'SourceCreated', data: { sourceId, ownerId, name, config: DEFAULT_SOURCE_CONFIG, remote: null } },
  { type: 'SourceIngestRequested', data: { sourceId, ingestId: `i-${sourceId}`, ownerId, files, operation: 'upload' } },
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

it('a user sees their own sources that are not deleted, newest first', async () => {
  const own = await queries.ownedBy('ann');
  expect(own.map(({ id, ingestStatus, tokens }) => [id, ingestStatus, tokens])).toEqual([
    ['s3', 'failed', 0],
    ['s2', 'completed', 50],
    ['s1', 'requested', 0],
  ]);
  expect(own[0]).toMatchObject({ ingestReason: 'Broken.', files, config: DEFAULT_SOURCE_CONFIG });
});

it('a source has its newest config', async () => {
  const config = {
    ...DEFAULT_SOURCE_CONFIG,
    retrieval: { ...DEFAULT_SOURCE_CONFIG.retrieval, chunks: 9, reranker: { model: 'a\0b' } },
  };
  await given('s11', ...uploaded('s11', 'Configured', 'flo'), { type: 'SourceConfigured', data: { sourceId: 's11', config } });
  expect((await queries.byId('s11'))?.config).toEqual({
    ...config,
    retrieval: { ...config.retrieval, reranker: { model: 'a\uFFFDb' } },
  });
});

it('a page has the requested order and the names that contain a text', async () => {
  const page = async (search: string, by: 'date' | 'name' | 'tokens', descending = false) =>
    (await queries.page('ann', [], search, { by, descending }, 10, 0)).records.map(({ id }) => id);
  expect(await page('', 'name')).toEqual(['s1', 's2', 's3']);
  expect(await page('', 'tokens', true)).toEqual(['s2', 's1', 's3']);
  expect(await page('ALPHA', 'date')).toEqual(['s1']);
  expect(await page('%', 'date')).toEqual(['s1']);
  expect(await queries.page('ann', [], '', { by: 'date', descending: true }, 1, 1)).toMatchObject({
    total: 3,
    records: [{ id: 's2' }],
  });
});

it('a source is found by its id, by its ingestion and among the user’s own', async () => {
  expect((await queries.byId('s4'))?.ownerId).toBe('bob');
  expect((await queries.byIngest('i-s2'))?.id).toBe('s2');
  expect(await queries.ownedAmong('ann', ['s1', 's4', 's5', 'other'])).toEqual(['s1']);
});

it('newly fetched pages replace the old ones when their ingestion completes, and not if it fails', async () => {
  const remote = { kind: 'url', urls: ['https://a.example/'] } as const;
  const page = (sha256: string) => ({ filename: 'a.example.html', sha256, size: 4, url: 'https://a.example/' });
  const requested = (ingestId: string): SourceEvent => ({
    type: 'SourceIngestRequested',
    data: { sourceId: 's6', ingestId, ownerId: 'carl', files: [], operation: 'sync' },
  });
  const fetched = (ingestId: string, sha256: string): SourceEvent => ({
    type: 'SourcePagesFetched',
    data: { sourceId: 's6', ingestId, files: [page(sha256)], sitemaps: [], failures: [], isCut: false },
  });
  const files = async () => (await queries.byId('s6'))?.files.map(({ sha256 }) => sha256);
  await given(
    's6',
    { type: 'SourceCreated', data: { sourceId: 's6', ownerId: 'carl', name: 'Site', config: DEFAULT_SOURCE_CONFIG, remote } },
    requested('i1'),
    fetched('i1', 'one'),
    started('s6'),
  );
  expect(await files()).toEqual([]);
  await given('s6', completed('s6', 7));
  expect(await queries.byId('s6')).toMatchObject({ remote, syncFrequency: 'never', tokens: 7 });
  expect(await files()).toEqual(['one']);
  await given('s6', requested('i2'), fetched('i2', 'two'), failed('s6'), requested('i3'));
  expect(await files()).toEqual(['one']);
  expect(await queries.byId('s6')).toMatchObject({ ingestId: 'i3', ingestStatus: 'requested', ingestReason: null, tokens: 7 });
  await given('s6', fetched('i3', 'three'), started('s6'), completed('s6', 8));
  expect(await files()).toEqual(['three']);
});

it('coming syncs are listed for their owner, the soonest first, and due ones are found in pages', async () => {
  const day = (number: number) => `2026-03-0${number}T00:00:00.000Z`;
  const synced = (id: string, ownerId: string, nextSyncAt: string | null) =>
    given(id, ...uploaded(id, `Site ${id}`, ownerId), {
      type: 'SourceSyncFrequencySet',
      data: { sourceId: id, frequency: nextSyncAt ? 'weekly' : 'never', nextSyncAt },
    });
  await synced('s7', 'dora', day(3));
  await synced('s8', 'dora', day(1));
  await synced('s9', 'dora', null);
  await synced('s10', 'emil', day(2));
  expect(await queries.syncsOf('dora')).toEqual([
    { sourceId: 's8', name: 'Site s8', frequency: 'weekly', nextSyncAt: new Date(day(1)) },
    { sourceId: 's7', name: 'Site s7', frequency: 'weekly', nextSyncAt: new Date(day(3)) },
  ]);
  const due = async (limit: number) => (await queries.dueForSync(new Date(day(2)), limit)).map(({ sourceId }) => sourceId);
  expect([await due(1), await due(9)]).toEqual([['s8'], ['s8', 's10']]);
  await given('s8', {
    type: 'SourceSyncDue',
    data: { sourceId: 's8', ingestId: 'i', dueAt: day(1), nextSyncAt: day(8) },
  });
  await given('s10', { type: 'SourceDeleted', data: { sourceId: 's10' } });
  expect(await queries.dueForSync(new Date(day(2)), 9)).toEqual([]);
  expect((await queries.syncsOf('dora')).map(({ sourceId }) => sourceId)).toEqual(['s7', 's8']);
});

it('the read model is the same after a rebuild', async () => {
  await model.expectSameAfterRebuild();
});

it('names are shown with characters replaced that Postgres cannot store', async () => {
  const odd = [{ filename: 'menu\0.md', sha256: 'x', size: 3 }];
  const data = { sourceId: 's-nul', ingestId: 'i', ownerId: 'nul', files: odd, operation: 'upload' } as const;
  const [created] = uploaded('s-nul', 'Nul\0', 'nul');
  await given(
    's-nul',
    created!,
    { type: 'SourceIngestRequested', data },
    {
      type: 'SourceIngestFailed',
      data: { sourceId: 's-nul', ingestId: 'i', reason: 'Broken\0' },
    },
  );
  const [source] = await queries.ownedBy('nul');
  expect(source).toMatchObject({ name: 'Nul\uFFFD', files: [{ filename: 'menu\uFFFD.md' }], ingestReason: 'Broken\uFFFD' });
  await model.expectSameAfterRebuild();
});
