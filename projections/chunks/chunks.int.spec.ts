import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { DEFAULT_SOURCE_CONFIG } from '../../src/resources/sources/source/source-config.policy.js';
import {
  type ChunkEdit,
  chunksStream,
  type SourceChunksIngested,
  type SourceEvent,
  sourceStream,
} from '../../src/resources/sources/source/source.events.js';
import { ReadModels } from '../read-models.js';
import { chunks } from './chunks.projection.js';
import { ChunkQueries } from './chunks.queries.js';

const created = (sourceId: string): SourceEvent => ({
  type: 'SourceCreated',
  data: { sourceId, ownerId: 'ann', name: `Source ${sourceId}`, config: DEFAULT_SOURCE_CONFIG, remote: null },
});
const started = (sourceId: string, chunksId: string): SourceEvent => ({
  type: 'SourceIngestStarted',
  data: { sourceId, ingestId: 'i', chunksId },
});
const completed = (sourceId: string, chunksId: string): SourceEvent => ({
  type: 'SourceIngestCompleted',
  data: { sourceId, ingestId: 'i', chunksId, chunks: 1, tokens: 3 },
});
const failed = (sourceId: string): SourceEvent => ({
  type: 'SourceIngestFailed',
  data: { sourceId, ingestId: 'i', reason: 'x' },
});
const deleted = (sourceId: string): SourceEvent => ({ type: 'SourceDeleted', data: { sourceId } });
const batch = (sourceId: string, chunksId: string, ...texts: string[]): SourceChunksIngested => ({
  type: 'SourceChunksIngested',
  data: {
    chunksId,
    sourceId,
    file: 0,
    isLastOfFile: true,
    firstOrdinal: 0,
    embeddingModel: null,
    chunks: texts.map((text) => ({ title: 'T', text, tokens: 3, filename: 'a.txt' })),
  },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ChunkQueries;
const of = (sourceId: string, ...events: SourceEvent[]) => model.given(sourceStream(sourceId), events);
const written = (sourceId: string, chunksId: string, ...texts: string[]) =>
  model.given(chunksStream(chunksId), [batch(sourceId, chunksId, ...texts)]);
const shown = async (sourceId: string) => (await queries.page(sourceId, {}, 100, 0)).records.map(({ text }) => text);
const kept = async (sourceId: string) =>
  (await database.sql`select text from chunks.chunk where source_id = ${sourceId} order by chunks_id`).map(
    (row) => row['text'] as string,
  );

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(chunks, database.sql);
  queries = new ChunkQueries(new ReadModels(database.sql));
});
afterAll(() => database.close());

describe('the chunks of a source', () => {
  it('are visible once the ingestion is complete', async () => {
    await of('s1', created('s1'), started('s1', 'c1'));
    await written('s1', 'c1', 'first');
    expect(await shown('s1')).toEqual([]);
    await of('s1', completed('s1', 'c1'));
    expect(await shown('s1')).toEqual(['first']);
  });

  it('are replaced by newer ones in one step', async () => {
    await of('s2', created('s2'), started('s2', 'c21'));
    await written('s2', 'c21', 'old');
    await of('s2', completed('s2', 'c21'), started('s2', 'c22'));
    await written('s2', 'c22', 'new');
    expect(await shown('s2')).toEqual(['old']);
    await of('s2', completed('s2', 'c22'));
    expect(await kept('s2')).toEqual(['new']);
  });

  it('stay when a newer ingestion fails', async () => {
    await of('s3', created('s3'), started('s3', 'c31'));
    await written('s3', 'c31', 'old');
    await of('s3', completed('s3', 'c31'), started('s3', 'c32'));
    await written('s3', 'c32', 'half');
    await of('s3', failed('s3'));
    expect(await kept('s3')).toEqual(['old']);
  });

  it('are not stored for an abandoned ingestion or a deleted source', async () => {
    await of('s4', created('s4'), started('s4', 'c41'));
    await written('s4', 'c41', 'abandoned');
    await of('s4', started('s4', 'c42'));
    await written('s4', 'c42', 'kept');
    await of('s4', completed('s4', 'c42'));
    await written('s4', 'c43', 'late');
    expect(await kept('s4')).toEqual(['kept']);
    await of('s4', deleted('s4'));
    await written('s4', 'c44', 'later');
    expect(await kept('s4')).toEqual([]);
  });
});

it('characters that Postgres does not store are replaced', async () => {
  await of('odd', created('odd'), started('odd', 'odd1'));
  await written('odd', 'odd1', 'half \uD83D, none \0');
  await of('odd', completed('odd', 'odd1'));
  expect(await shown('odd')).toEqual(['half \uFFFD, none \uFFFD']);
});

describe('edits of the chunks of a source', () => {
  const place = (ordinal: number, chunksId = 'c71') => ({ chunksId, sourceId: 's7', ordinal });
  const chunk = (text: string) => ({ title: 'T', text, tokens: 3, filename: 'a.txt' });
  const edited = (...events: ChunkEdit[]) => model.given(chunksStream(events[0]!.data.chunksId), events);
  const counts = async () => (await queries.sources('ann', ['s7'])).map(({ chunks: count, edits }) => [count, edits]);

  it('are searched and counted, and are removed by the next ingestion', async () => {
    await of('s7', created('s7'), started('s7', 'c71'));
    await written('s7', 'c71', 'first');
    await of('s7', completed('s7', 'c71'));
    await edited({ type: 'SourceChunkAdded', data: { ...place(1), embeddingModel: null, chunk: chunk('added') } });
    await edited({ type: 'SourceChunkChanged', data: { ...place(0), embeddingModel: null, chunk: chunk('changed') } });
    expect(await shown('s7')).toEqual(['changed', 'added']);
    expect(await counts()).toEqual([[2, 2]]);
    await edited({ type: 'SourceChunkRemoved', data: place(0) }, { type: 'SourceChunkRemoved', data: place(0) });
    expect(await shown('s7')).toEqual(['added']);
    expect(await counts()).toEqual([[1, 4]]);
    await of('s7', started('s7', 'c72'));
    await written('s7', 'c72', 'new');
    await of('s7', completed('s7', 'c72'));
    await edited({ type: 'SourceChunkAdded', data: { ...place(2), embeddingModel: null, chunk: chunk('late') } });
    expect(await kept('s7')).toEqual(['new']);
    // The previous chunks are purged with their edits.
    await model.expectSameAfterRebuild(({ stream }) => stream !== chunksStream('c71'));
  });

  it('stay and stay counted when the same files are ingested again', async () => {
    const of8 = (ordinal: number) => ({ ...place(ordinal, 'c81'), sourceId: 's8' });
    await of('s8', created('s8'), started('s8', 'c81'));
    await written('s8', 'c81', 'first');
    await of('s8', completed('s8', 'c81'));
    await edited({ type: 'SourceChunkAdded', data: { ...of8(1), embeddingModel: null, chunk: chunk('added') } });
    await of('s8', started('s8', 'c81'), completed('s8', 'c81'));
    expect(await shown('s8')).toEqual(['first', 'added']);
    expect(await queries.sources('ann', ['s8'])).toMatchObject([{ chunks: 2, edits: 1 }]);
  });
});

it('a source has the chunk count of its newest config, or none', async () => {
  const configured = (count: number | null): SourceEvent => {
    const retrieval = { ...DEFAULT_SOURCE_CONFIG.retrieval, chunks: count };
    return { type: 'SourceConfigured', data: { sourceId: 's6', config: { ...DEFAULT_SOURCE_CONFIG, retrieval } } };
  };
  const own = async () => (await queries.sources('ann', ['s6']))[0]?.ownChunks;
  await of('s6', created('s6'), configured(9));
  expect(await own()).toBe(9);
  await of('s6', configured(null));
  expect(await own()).toBeNull();
});

it('a page of chunks can be filtered by file or text and has the total number', async () => {
  await of('s5', created('s5'), started('s5', 'c5'));
  await written('s5', 'c5', 'One 100%', 'two', 'THREE one');
  await of('s5', completed('s5', 'c5'));
  expect(await queries.page('s5', { search: 'one' }, 1, 1)).toMatchObject({ total: 2, records: [{ text: 'THREE one' }] });
  expect(await queries.page('s5', { search: '%' }, 10, 0)).toMatchObject({ total: 1 });
  expect(await queries.page('s5', { path: 'b.txt' }, 10, 0)).toEqual({ total: 0, records: [] });
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});
