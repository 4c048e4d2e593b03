import { NO_GRANTS } from '../../../../test/support/no-grants.js';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { chunks } from '../../../../projections/chunks/chunks.projection.js';
import { ChunkQueries } from '../../../../projections/chunks/chunks.queries.js';
import { ReadModels } from '../../../../projections/read-models.js';
import { type TestDatabase, testDatabase } from '../../../../test/support/postgres-for-tests.js';
import { projecting } from '../../../../test/support/projecting.js';
import { ChunkSearch } from './chunk-search.js';
import type { Embeddings } from '../../models/model/embeddings.port.js';
import { DEFAULT_SOURCE_CONFIG } from '../source/source-config.policy.js';
import { chunksStream, sourceStream } from '../source/source.events.js';
import { encodeEmbedding, VectorIndex } from './vector-index.js';

/** The titles and texts of a user's handbook. */
const HANDBOOK: readonly (readonly [title: string, text: string])[] = [
  ['Installation', 'Run npm ci and then npm start. The service listens on port 7091 and needs Node 20 or newer.'],
  ['Passwords', 'To reset your password open Settings, choose Security and press Reset. A link is sent to your mail address.'],
  ['Billing', 'Invoices are sent on the first day of each month. You can pay by credit card or by bank transfer.'],
  ['Refunds', 'A refund is possible within thirty days after the payment. Write to billing with the number of the invoice.'],
  ['Backups', 'Every night the database is copied to another region. Copies are kept for fourteen days and then removed.'],
  ['Restoring', 'To restore the database from a copy, stop the service, run restore with the date, and start it again.'],
  ['Rate limits', 'Each key may send sixty requests a minute. Above that the service answers 429 with a Retry-After header.'],
  ['Webhooks', 'A webhook is called when an agent finishes. It is retried three times with a growing delay.'],
  ['Languages', 'The interface speaks English, German and French. Café Zürich is our test customer.'],
  [
    'Configuration',
    'DATABASE_URL names the database. MAX_UPLOAD_BYTES limits uploads. See src/platform/config/settings.ts for all.',
  ],
  ['Deleting an account', 'Deleting your account removes all conversations and sources at once. It cannot be undone.'],
  [
    'Streaming',
    'Answers are streamed word by word. A client that lost its connection sends the last id to resumeStream and goes on.',
  ],
  ['日本語', '会議室の予約は総務部に連絡してください。予約の取り消しは前日までです。'],
];
const COOKBOOK: readonly (readonly [string, string])[] = [
  ['Bread', 'Mix flour, water, salt and yeast. Let the dough rest overnight, then bake it for forty minutes.'],
  ['Tea', 'Pour hot water over the leaves and wait three minutes. Green tea wants cooler water.'],
  ['Soup', 'Cook carrots and onions, add water and salt, and serve with bread.'],
];

/** The vector of a text: the number of words about money, the number of words about food, and a constant. */
const meaning = (text: string): readonly number[] => {
  const about = (words: RegExp) => (text.match(words) ?? []).length;
  return [about(/pay|invoice|refund|money|reimburs/gi), about(/bread|tea|soup|water|eat/gi), 0.1];
};
const embeddings: Embeddings = { model: 'meaning-1', embed: (texts) => Promise.resolve(texts.map(meaning)) };

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ChunkQueries;
let search: ChunkSearch;

async function ingest(
  sourceId: string,
  all: readonly (readonly [string, string])[],
  more: { chunks?: number; ownerId?: string } = {},
) {
  const config = { ...DEFAULT_SOURCE_CONFIG, retrieval: { ...DEFAULT_SOURCE_CONFIG.retrieval, chunks: more.chunks ?? null } };
  const data = { sourceId, ingestId: `i-${sourceId}`, chunksId: `c-${sourceId}` };
  await model.given(sourceStream(sourceId), [
    { type: 'SourceCreated', data: { sourceId, ownerId: more.ownerId ?? 'ann', name: `The ${sourceId}`, config } },
    { type: 'SourceIngestStarted', data },
  ]);
  const rows = all.map(([title, text]) => ({
    title,
    text,
    tokens: 20,
    filename: `${sourceId}.md`,
    embedding: encodeEmbedding(meaning(text)),
  }));
  const written = { ...data, file: 0, isLastOfFile: true, firstOrdinal: 0, embeddingModel: embeddings.model, chunks: rows };
  await model.given(chunksStream(data.chunksId), [{ type: 'SourceChunksIngested', data: written }]);
  await model.given(sourceStream(sourceId), [
    { type: 'SourceIngestCompleted', data: { ...data, chunks: rows.length, tokens: 20 } },
  ]);
}

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(chunks, database.sql);
  queries = new ChunkQueries(new ReadModels(database.sql));
  search = new ChunkSearch(queries, new VectorIndex(queries), undefined, NO_GRANTS);
  await ingest('handbook', HANDBOOK);
  await ingest('cookbook', COOKBOOK);
  await ingest(
    'own-count',
    COOKBOOK.map(([title, text]) => [title, `${text} Indeed.`] as const),
    { chunks: 1 },
  );
  await ingest('of-bob', [['Secret', 'The password of Bob is swordfish.']], { ownerId: 'bob' });
  await model.given(sourceStream('broken'), [
    { type: 'SourceCreated', data: { sourceId: 'broken', ownerId: 'ann', name: 'Broken', config: DEFAULT_SOURCE_CONFIG } },
    { type: 'SourceIngestFailed', data: { sourceId: 'broken', ingestId: 'i', reason: 'x' } },
  ]);
});
afterAll(() => database.close());

const ask = (
  question: string,
  sources: readonly (string | { id: string; chunks: number })[] = ['handbook', 'cookbook'],
  total = 6,
  by = search,
) =>
  by.search({
    sources: sources.map((each) => (typeof each === 'string' ? { id: each } : each)),
    question,
    chunks: total,
    ownerId: 'ann',
  });
const titles = async (...given: Parameters<typeof ask>) => (await ask(...given)).chunks.map(({ title }) => title);

describe('the search for a question', () => {
  it.each([
    ['How do I install it?', 'Installation'],
    ['What port does the service listen on?', 'Installation'],
    ['I forgot my password, how can I reset it?', 'Passwords'],
    ['When do I get my invoice?', 'Billing'],
    ['Can I get my money back after a payment?', 'Refunds'],
    ['How long are copies of the database kept?', 'Backups'],
    ['how to restore a database', 'Restoring'],
    ['Why do I get error 429?', 'Rate limits'],
    ['how often are webhooks retried', 'Webhooks'],
    ['Which languages does the interface speak?', 'Languages'],
    ['cafe zurich', 'Languages'],
    ['What does MAX_UPLOAD_BYTES do?', 'Configuration'],
    ['where is settings.ts', 'Configuration'],
    ['What is DATABASE_URL for?', 'Configuration'],
    ['What happens when I delete my account?', 'Deleting an account'],
    ['How do I resume a stream?', 'Streaming'],
    ['予約の取り消し', '日本語'],
    ['How long does bread bake?', 'Bread'],
    ['bread', 'Bread'],
  ])('ranks the answer first: %s', async (question, title) => expect((await titles(question))[0]).toBe(title));

  it.each(['Instalation', 'webhoks'])('finds a chunk for a misspelt word: %s', async (question) => {
    expect(await titles(question)).toHaveLength(1);
  });

  it.each(['', '   ', 'what is it', "'", '\\', '!!! & | <->', ':*', 'xyzzy', '\0'])('finds nothing for %p', async (question) => {
    expect((await ask(question)).chunks).toEqual([]);
  });

  it('handles a very long question', async () => {
    expect((await titles(`Please help: ${'lorem ipsum dolor '.repeat(20_000)}`)).length).toBeLessThanOrEqual(6);
    expect((await titles(`${'a b c '.repeat(50)} invoices and refunds`))[0]).toMatch(/Billing|Refunds/);
  });
});

describe('the count of chunks', () => {
  it('is a total that sources share fairly, with unused parts filled by others', async () => {
    const found = await ask('water salt bread database', ['handbook', 'cookbook'], 4);
    expect(found.chunks.filter(({ sourceId }) => sourceId === 'cookbook')).toHaveLength(2);
    expect(found.chunks).toHaveLength(4);
    expect(await titles('dough and yeast', ['handbook', 'cookbook'], 4)).toEqual(['Bread']);
  });

  it('of a source replaces its share, and the others share the rest of the total', async () => {
    const found = await ask('bread water salt', ['cookbook', 'own-count'], 3);
    expect(found.chunks.filter(({ sourceId }) => sourceId === 'own-count')).toHaveLength(1);
    expect(found.chunks.filter(({ sourceId }) => sourceId === 'cookbook')).toHaveLength(2);
    const told = await ask('bread water salt', [{ id: 'cookbook', chunks: 2 }], 1);
    expect(told.chunks).toHaveLength(2);
  });

  it('may be 0', async () => expect(await ask('bread', ['cookbook'], 0)).toEqual({ chunks: [], failedSources: [] }));

  it('does not include the same text twice', async () => {
    await ingest('copy', COOKBOOK);
    expect(await titles('bread', ['cookbook', 'copy'], 6)).toEqual(['Bread', 'Soup']);
  });
});

describe('a source', () => {
  it('of another user yields nothing and is reported as failed like an unknown one', async () => {
    for (const id of ['of-bob', 'unknown']) {
      expect(await ask('password swordfish', [id])).toEqual({ chunks: [], failedSources: [id] });
    }
    const { chunks: found, failedSources } = await ask('bread', ['of-bob', 'cookbook', 'unknown']);
    expect([found.length, failedSources]).toEqual([2, ['of-bob', 'unknown']]);
  });

  it('that could not be ingested is reported as failed', async () => {
    const { chunks: found, failedSources } = await ask('bread', ['broken', 'cookbook']);
    expect([found.length, failedSources]).toEqual([2, ['broken']]);
  });

  it('that cannot be searched is reported and logged, and the others yield results', async () => {
    const logged = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const failing = Object.assign(Object.create(queries) as ChunkQueries, {
      frequencies: (id: string, terms: readonly string[]) =>
        id === 'c-handbook' ? Promise.reject(new Error('away')) : queries.frequencies(id, terms),
    });
    const by = new ChunkSearch(failing, new VectorIndex(queries), undefined, NO_GRANTS);
    const { chunks: found, failedSources } = await ask('bread', ['handbook', 'cookbook'], 6, by);
    expect([found.length, failedSources]).toEqual([2, ['handbook']]);
    expect(logged.mock.calls).toEqual([['The source handbook could not be searched: away']]);
    await expect(ask('bread', ['handbook'], 6, by)).rejects.toThrow('None of the sources');
    logged.mockRestore();
  });

  it('that is deleted is not searched any more', async () => {
    await ingest('short-lived', [['Gone', 'Ephemeral words.']]);
    expect(await titles('ephemeral', ['short-lived'])).toEqual(['Gone']);
    await model.given(sourceStream('short-lived'), [{ type: 'SourceDeleted', data: { sourceId: 'short-lived' } }]);
    expect(await ask('ephemeral', ['short-lived'])).toEqual({ chunks: [], failedSources: ['short-lived'] });
  });
});

describe('a search with embeddings', () => {
  it('finds a chunk of the same meaning without a common word, and still ranks by words', async () => {
    const hybrid = new ChunkSearch(queries, new VectorIndex(queries), embeddings, NO_GRANTS);
    expect((await titles('reimbursement', ['handbook', 'cookbook'], 3, hybrid)).slice(0, 2).sort()).toEqual([
      'Billing',
      'Refunds',
    ]);
    expect((await titles('refund of an invoice', ['handbook', 'cookbook'], 3, hybrid))[0]).toBe('Refunds');
  });

  it('uses words alone if the embeddings fail, and reports the sources as failed', async () => {
    const logged = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const away: Embeddings = { model: 'meaning-1', embed: () => Promise.reject(new Error('away')) };
    const { chunks: found, failedSources } = await ask(
      'yeast',
      ['cookbook'],
      6,
      new ChunkSearch(queries, new VectorIndex(queries), away, NO_GRANTS),
    );
    expect([found.length, failedSources]).toEqual([1, ['cookbook']]);
    expect(logged.mock.calls).toEqual([['The question got no embedding, so words alone decide: away']]);
    logged.mockRestore();
  });

  it('evicts the least recently used vectors first', async () => {
    const reads: string[] = [];
    const counting = { vectors: (id: string, name: string, size: number) => (reads.push(id), queries.vectors(id, name, size)) };
    const index = new VectorIndex(counting, 3 * 3 * 4);
    for (const id of ['c-cookbook', 'c-cookbook', 'c-copy', 'c-cookbook']) await index.nearest(id, 'meaning-1', [1, 1, 1], 1);
    expect(reads).toEqual(['c-cookbook', 'c-copy', 'c-cookbook']);
  });
});
