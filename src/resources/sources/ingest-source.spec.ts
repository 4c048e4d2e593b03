import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { commandsOver } from '../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { MemoryCredentialVault } from '../../../test/support/memory-credential-vault.js';
import { LocalServer } from '../../../test/support/local-server.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { GuardedHttp } from '../../platform/outgoing/guarded-http.js';
import { FolderBlobs } from '../../platform/blobs/folder-blobs.js';
import { RETRIES_MAX } from '../../work/tasks/task.policy.js';
import { AttemptFailed, type TaskAttempt } from '../../work/tasks/task-runner.port.js';
import { BATCH_BYTES_MAX } from './chunks/chunk-writer.js';
import { type Chunk, type Chunking, Documents, type WaitingDocument } from '../documents/document.port.js';
import { ZipArchives } from '../documents/archives/zip-archives.js';
import { PARSING_LIMITS } from '../documents/limits.js';
import type { Embeddings } from '../models/model/embeddings.port.js';
import { IngestSource } from './ingest-source.js';
import { RemoteFiles } from './remote/remote-files.js';
import { RemotePages } from './remote/remote-pages.js';
import {
  CompleteIngestHandler,
  FailIngestHandler,
  KeepPagesHandler,
  KeepUnpackedFilesHandler,
  StartIngestHandler,
} from './source/source.commands.js';
import { createSource, deleteSource, source } from './source/source.decider.js';
import { configureSource } from './source/source-config.decider.js';
import { DEFAULT_SOURCE_CONFIG } from './source/source-config.policy.js';
import { type SourceChunksIngested, sourceStream } from './source/source.events.js';
import { ingestAgain } from './source/sync.decider.js';
import { systemTiming } from '../../platform/system-timing.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;

/** A parser that makes one chunk of each line. */
class LinesAsChunks extends Documents {
  reads: string[] = [];
  /** The maximum tokens with which each file was cut. */
  cutAt: number[] = [];
  isRepaired = false;
  check(): Promise<void> {
    return Promise.resolve();
  }
  sections(): Promise<never[]> {
    return Promise.resolve([]);
  }
  async chunks({ filename, bytes }: WaitingDocument, { maxTokens }: Chunking): Promise<readonly Chunk[]> {
    this.reads.push(filename);
    this.cutAt.push(maxTokens);
    const text = new TextDecoder().decode(await bytes());
    if (text === 'broken' && !this.isRepaired) throw new Rejection('document-unreadable', `${filename} is broken.`);
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => ({ title: 'T', text: line, tokens: 2 }));
  }
}

class CountingEmbeddings implements Embeddings {
  readonly model = 'numbers';
  embedded = 0;
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    this.embedded += texts.length;
    return Promise.resolve(texts.map((text) => [text.length, 1]));
  }
}

let folder: string;
let blobs: FolderBlobs;
let store: InMemoryEventStore;
let streams: Streams;
let documents: LinesAsChunks;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ingest-'));
  blobs = new FolderBlobs(folder);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  documents = new LinesAsChunks();
  lag = 0;
});

const limits = {
  filesMax: 100,
  pagesMax: 5,
  pageBytesMax: 10_000,
  bytesMax: 50_000,
  depthMax: 2,
  pageMs: 5_000,
  totalMs: 20_000,
};
const web = new GuardedHttp({ privateHosts: ['127.0.0.1'] });
afterAll(() => web.close());

let lag: number;
const freshness: Freshness = { reached: () => Promise.resolve(--lag <= 0) };
const isSearchable = () => Promise.resolve(lag <= 0);
const ingesting = (embeddings?: Embeddings) =>
  new IngestSource({
    store,
    streams,
    commands: commandsOver(
      new KeepPagesHandler(streams),
      new KeepUnpackedFilesHandler(streams),
      new StartIngestHandler(streams),
      new CompleteIngestHandler(streams),
      new FailIngestHandler(streams),
    ),
    blobs,
    documents,
    archives: new ZipArchives(blobs, join(folder, 'work'), { ...PARSING_LIMITS, archiveDepthMax: 3 }),
    embeddings,
    pages: new RemotePages(web, blobs, limits, systemTiming),
    files: new RemoteFiles({
      http: web,
      blobs,
      vault: new MemoryCredentialVault(),
      limits,
      github: { apiBaseUrl: 'http://127.0.0.1:1', rawBaseUrl: 'http://127.0.0.1:1' },
      clock: { now: () => new Date() },
      timing: systemTiming,
    }),
    freshness,
    isSearchable,
  });

async function uploaded(...texts: string[]) {
  const [sourceId, taskId] = [newId(), newId()];
  const files = await Promise.all(
    texts.map(async (text, index) => ({ filename: `${index}.txt`, ...(await blobs.put(Readable.from([Buffer.from(text)]))) })),
  );
  const created = { sourceId, ownerId: 'ann', name: 'Docs', config: DEFAULT_SOURCE_CONFIG, remote: null };
  await streams.transact(sourceStream(sourceId), source, createSource(created, taskId, files), cause);
  return { sourceId, taskId };
}

async function uploadedArchive(entries: Readonly<Record<string, string>>, ...others: { filename: string; text: string }[]) {
  const [sourceId, taskId] = [newId(), newId()];
  const zip = zipSync(Object.fromEntries(Object.entries(entries).map(([path, text]) => [path, strToU8(text)])));
  const kept = async (filename: string, bytes: Uint8Array) => ({
    filename,
    ...(await blobs.put(Readable.from([Buffer.from(bytes)]))),
  });
  const files = [await kept('docs.zip', zip)];
  for (const { filename, text } of others) files.push(await kept(filename, strToU8(text)));
  const created = { sourceId, ownerId: 'ann', name: 'Docs', config: DEFAULT_SOURCE_CONFIG, remote: null };
  await streams.transact(sourceStream(sourceId), source, createSource(created, taskId, files), cause);
  return { sourceId, taskId };
}

const attempt = (
  ids: { sourceId: string; taskId: string },
  progress: TaskAttempt['progress'] = () => Promise.resolve(),
): TaskAttempt => ({
  taskId: ids.taskId,
  ownerId: 'ann',
  input: { sourceId: ids.sourceId },
  attempt: 1,
  cause,
  signal: new AbortController().signal,
  progress,
});

async function all<E = unknown>(category: string): Promise<{ type: string; data: E }[]> {
  const found: { type: string; data: E }[] = [];
  for await (const page of store.readAll({ after: -1n, filter: { categories: [category] } })) {
    found.push(...page.events.map(({ type, data }) => ({ type, data: JSON.parse(data) as E })));
  }
  return found;
}
const batches = async () => (await all<SourceChunksIngested['data']>('chunks')).map(({ data }) => data);
const texts = async () => (await batches()).flatMap(({ chunks }) => chunks.map(({ text }) => text));

it('writes the chunks of every file and then completes the ingestion', async () => {
  const ids = await uploaded('one\ntwo', 'three');
  const percents: number[] = [];
  const result = await ingesting().run(attempt(ids, (percent) => Promise.resolve(void percents.push(percent))));
  expect(result).toEqual({
    directory: 'inputs/ann/Docs',
    formats: ['.txt'],
    name_job: 'Docs',
    filename: '0.txt, 1.txt',
    user: 'ann',
    limited: false,
  });
  expect(percents).toEqual([0, 25, 50, 75]);
  const [first] = await batches();
  const completed = (await all('source')).at(-1);
  expect(completed).toEqual({
    type: 'SourceIngestCompleted',
    data: { ...ids, taskId: undefined, ingestId: ids.taskId, chunksId: first!.chunksId, chunks: 3, tokens: 6 },
  });
  expect((await batches()).map(({ file, firstOrdinal, isLastOfFile }) => [file, firstOrdinal, isLastOfFile])).toEqual([
    [0, 0, true],
    [1, 2, true],
  ]);
});

it('ends only when searches find the chunks, even if the read model is slow', async () => {
  const ids = await uploaded('one');
  lag = 3;
  await ingesting().run(attempt(ids));
  expect(lag).toBe(0);
});

it('continues an interrupted attempt without storing or embedding chunks twice or reading finished files again', async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} of ${count}`);
  const ids = await uploaded(lines(3).join('\n'), lines(100).join('\n'), 'end');
  const embeddings = new CountingEmbeddings();
  let written = 0;
  const append = store.append.bind(store);
  store.append = (stream, expected, events) => {
    if (stream.startsWith('chunks-') && ++written === 3) return Promise.reject(new Error('The process ends here.'));
    return append(stream, expected, events);
  };
  await expect(ingesting(embeddings).run(attempt(ids))).rejects.toThrow('ends here');
  store.append = append;
  const before = (await texts()).length;
  const counted = embeddings.embedded;
  documents.reads = [];
  await ingesting(embeddings).run(attempt(ids));
  expect(await texts()).toEqual([...lines(3), ...lines(100), 'end']);
  expect(documents.reads).toEqual(['1.txt', '2.txt']);
  expect(embeddings.embedded - counted).toBe(104 - before);
  expect((await all('source')).filter(({ type }) => type === 'SourceIngestStarted')).toHaveLength(1);
});

it('returns the same result when a completed ingestion is attempted again', async () => {
  const ids = await uploaded('one');
  const first = await ingesting().run(attempt(ids));
  const events = (await all('source')).length;
  expect(await ingesting().run(attempt(ids))).toEqual(first);
  expect((await all('source')).length).toBe(events);
});

it('does not append a batch twice when the store’s answer is lost', async () => {
  const ids = await uploaded('one\ntwo');
  const append = store.append.bind(store);
  let lost = false;
  store.append = async (stream, expected, events) => {
    const appended = await append(stream, expected, events);
    if (stream.startsWith('chunks-') && !lost) {
      lost = true;
      throw new StoreUnavailable('The answer was lost.');
    }
    return appended;
  };
  await ingesting().run(attempt(ids));
  expect(await texts()).toEqual(['one', 'two']);
});

describe('a source whose config changes', () => {
  const cutAt = async ({ sourceId }: { sourceId: string }, max_tokens: number) => {
    const { chunking, ...others } = DEFAULT_SOURCE_CONFIG;
    const decide = configureSource(sourceId, 'ann', { ...others, chunking: { ...chunking, max_tokens } });
    await streams.transact(sourceStream(sourceId), source, decide, cause);
  };
  const again = async ({ sourceId }: { sourceId: string }) => {
    const taskId = newId();
    await streams.transact(sourceStream(sourceId), source, ingestAgain(sourceId, 'ann', taskId, 'of-any-kind'), cause);
    return { sourceId, taskId };
  };

  it('is cut anew by the next ingestion, not before', async () => {
    const ids = await uploaded('one', 'two');
    await ingesting().run(attempt(ids));
    await cutAt(ids, 500);
    await ingesting().run(attempt(await again(ids)));
    expect(documents.cutAt).toEqual([1250, 1250, 500, 500]);
    await ingesting().run(attempt(await again(ids)));
    expect(documents.cutAt).toHaveLength(4);
    expect(new Set((await batches()).map(({ chunksId }) => chunksId)).size).toBe(2);
  });

  it('keeps its chunks in the next ingestion if the change was reverted or does not affect cutting', async () => {
    const ids = await uploaded('one');
    await ingesting().run(attempt(ids));
    await cutAt(ids, 500);
    await cutAt(ids, 1250);
    const { chunking, ...others } = DEFAULT_SOURCE_CONFIG;
    const decide = configureSource(ids.sourceId, 'ann', { ...others, chunking: { ...chunking, strategy: 'semantic' } });
    await streams.transact(sourceStream(ids.sourceId), source, decide, cause);
    await ingesting().run(attempt(await again(ids)));
    expect(documents.cutAt).toEqual([1250]);
  });

  it('during an ingestion is cut with the config of its beginning, also by a later attempt', async () => {
    const ids = await uploaded('one', 'broken', 'three');
    await expect(ingesting().run(attempt(ids))).rejects.toThrow('broken');
    documents.isRepaired = true;
    await cutAt(ids, 500);
    await ingesting().run(attempt(ids));
    expect(documents.cutAt).toEqual([1250, 1250, 1250, 1250]);
    expect(await texts()).toEqual(['one', 'broken', 'three']);
  });
});

it('limits the size of a batch when chunks are long', async () => {
  const ids = await uploaded(Array.from({ length: 12 }, (_, index) => `${index}`.repeat(50_000)).join('\n'));
  await ingesting().run(attempt(ids));
  for (const batch of await batches()) expect(JSON.stringify(batch.chunks).length).toBeLessThan(BATCH_BYTES_MAX + 10_000);
  expect(await texts()).toHaveLength(12);
});

it('refuses files without text and broken files with their names', async () => {
  await expect(ingesting().run(attempt(await uploaded('', '\n')))).rejects.toMatchObject({
    message: 'There is no text in 0.txt, 1.txt.',
  });
  await expect(ingesting().run(attempt(await uploaded('fine', 'broken')))).rejects.toMatchObject({ message: '1.txt is broken.' });
});

describe('an uploaded archive', () => {
  it('is ingested as its documents, with warnings about files that are not read', async () => {
    const ids = await uploadedArchive(
      { 'a/one.txt': 'one', 'b.txt': 'broken', 'c.png': 'x' },
      { filename: 'two.txt', text: 'two' },
    );
    expect(await ingesting().run(attempt(ids))).toEqual({
      directory: 'inputs/ann/Docs',
      formats: ['.txt'],
      name_job: 'Docs',
      filename: 'docs.zip, two.txt',
      user: 'ann',
      limited: false,
      warnings: ['docs.zip/c.png: Files of this kind are not accepted.', 'docs/b.txt: There is no text in it.'],
    });
    expect(documents.reads).toEqual(['docs/a/one.txt', 'docs/b.txt', 'two.txt']);
    expect(await texts()).toEqual(['one', 'two']);
  });

  it('replaces the files with the paths of its documents', async () => {
    const ids = await uploadedArchive(
      { 'a/one.txt': 'new' },
      { filename: 'docs/a/one.txt', text: 'old' },
      { filename: 'docs/a/two.txt', text: 'two' },
    );
    await ingesting().run(attempt(ids));
    expect([documents.reads, await texts()]).toEqual([
      ['docs/a/one.txt', 'docs/a/two.txt'],
      ['new', 'two'],
    ]);
  });

  it('is unpacked only once, even if the ingestion is interrupted afterwards', async () => {
    const ids = await uploadedArchive({ 'one.txt': 'one' });
    const append = store.append.bind(store);
    store.append = (stream, ...rest) =>
      stream.startsWith('chunks-') ? Promise.reject(new Error('The process ends here.')) : append(stream, ...rest);
    await expect(ingesting().run(attempt(ids))).rejects.toThrow('ends here');
    store.append = append;
    await ingesting().run(attempt(ids));
    const types = (await all('source')).map(({ type }) => type);
    expect(types.filter((type) => type === 'SourceArchivesUnpacked')).toHaveLength(1);
    expect(types.at(-1)).toBe('SourceIngestCompleted');
  });

  it('that could not be unpacked is unpacked by the next ingestion', async () => {
    const ids = await uploadedArchive({ 'one.txt': 'one' });
    await ingesting().failed(ids.taskId, { sourceId: ids.sourceId }, 'Away.', cause);
    const taskId = newId();
    await streams.transact(sourceStream(ids.sourceId), source, ingestAgain(ids.sourceId, 'ann', taskId, 'of-any-kind'), cause);
    await ingesting().run(attempt({ ...ids, taskId }));
    expect(await texts()).toEqual(['one']);
  });
});

it('stops when the source is deleted during the ingestion', async () => {
  const ids = await uploaded('one', 'two');
  const deleteNow = async () => {
    await streams.transact(sourceStream(ids.sourceId), source, deleteSource(ids.sourceId, 'ann'), cause);
  };
  await expect(ingesting().run(attempt(ids, deleteNow))).rejects.toMatchObject({ code: 'source-not-found' });
  expect((await all('source')).at(-1)?.type).toBe('SourceDeleted');
});

it('records a final failure once', async () => {
  const { sourceId, taskId } = await uploaded('broken');
  for (let time = 0; time < 2; time++) await ingesting().failed(taskId, { sourceId }, 'It is broken.', cause);
  expect((await all('source')).filter(({ type }) => type === 'SourceIngestFailed')).toHaveLength(1);
});

describe('pages', () => {
  let site: LocalServer;
  let text: string | undefined;
  let isListed = true;
  beforeAll(async () => {
    site = await LocalServer.started(({ path }, response) => {
      const sitemap = `<urlset><url><loc>${site.url}/page</loc></url><url><loc>${site.url}/other</loc></url></urlset>`;
      if (path === '/sitemap.xml') response.writeHead(isListed ? 200 : 503).end(sitemap);
      else if (path === '/other') response.writeHead(200, { 'content-type': 'text/plain' }).end('other');
      else response.writeHead(text === undefined ? 503 : 200, { 'content-type': 'text/plain' }).end(text);
    });
  });
  afterAll(() => site.close());
  beforeEach(() => {
    site.requests.length = 0;
  });

  async function added(kind: 'url' | 'sitemap' = 'url', path = '/page'): Promise<{ sourceId: string; taskId: string }> {
    const ids = { sourceId: newId(), taskId: newId() };
    const remote = { kind, urls: [`${site.url}${path}`] };
    const created = { sourceId: ids.sourceId, ownerId: 'ann', name: 'Site', config: DEFAULT_SOURCE_CONFIG, remote };
    await streams.transact(sourceStream(ids.sourceId), source, createSource(created, ids.taskId, []), cause);
    return ids;
  }
  const again = async ({ sourceId }: { sourceId: string }) => {
    const taskId = newId();
    await streams.transact(sourceStream(sourceId), source, ingestAgain(sourceId, 'ann', taskId, 'of-pages'), cause);
    return { sourceId, taskId };
  };
  const live = async (sourceId: string) => (await streams.fold(sourceStream(sourceId), source)).state.live?.chunksId;

  it('are fetched only once, even if the ingestion is interrupted afterwards', async () => {
    const ids = await added();
    text = 'one\ntwo';
    const append = store.append.bind(store);
    store.append = (stream, ...rest) =>
      stream.startsWith('chunks-') ? Promise.reject(new Error('The process ends here.')) : append(stream, ...rest);
    await expect(ingesting().run(attempt(ids))).rejects.toThrow('ends here');
    store.append = append;
    text = 'other';
    const result = await ingesting().run(attempt(ids));
    expect(result).toEqual({
      id: ids.sourceId,
      urls: `${site.url}/page`,
      name_job: 'Site',
      user: 'ann',
      limited: false,
      pages: 1,
      warnings: [],
    });
    expect([await texts(), site.requests.length]).toEqual([['one', 'two'], 1]);
    expect(await ingesting().run(attempt(ids))).toEqual(result);
  });

  it('with unchanged content keep their chunks, without being stored or embedded again', async () => {
    const ids = await added();
    const embeddings = new CountingEmbeddings();
    text = 'one\ntwo';
    await ingesting(embeddings).run(attempt(ids));
    const before = await live(ids.sourceId);
    await ingesting(embeddings).run(attempt(await again(ids)));
    await ingesting(embeddings).run(attempt(await again(ids)));
    expect([await live(ids.sourceId), embeddings.embedded, (await batches()).length]).toEqual([before, 2, 1]);
    // Without the embeddings model the chunks differ, so they are written again.
    await ingesting().run(attempt(await again(ids)));
    expect(await live(ids.sourceId)).not.toBe(before);
  });

  it('with the content of an earlier version are stored again, because replaced chunks are not kept', async () => {
    const ids = await added();
    const lives: unknown[] = [];
    for (const [index, each] of ['one', 'two', 'one'].entries()) {
      text = each;
      await ingesting().run(attempt(index === 0 ? ids : await again(ids)));
      lives.push(await live(ids.sourceId));
    }
    expect([new Set(lives).size, await texts()]).toEqual([3, ['one', 'two', 'one']]);
  });

  it('that are temporarily unavailable are fetched again by the next attempt, and the last attempt fails with the reason', async () => {
    const ids = await added();
    text = undefined;
    const tried = (number: number) => ingesting().run({ ...attempt(ids), attempt: number });
    const reason = `No page could be fetched. ${site.url}/page: It answered with HTTP status 503.`;
    const first = await tried(1).catch((error: unknown) => error);
    expect([first instanceof AttemptFailed, (first as Error).message]).toEqual([true, reason]);
    await expect(tried(RETRIES_MAX + 1)).rejects.toMatchObject({ code: 'pages-not-fetched', message: reason });
    text = 'there';
    await tried(2);
    expect(await texts()).toEqual(['there']);
  });

  it('that are temporarily unavailable, with their sitemap, keep their chunks', async () => {
    const ids = await added('sitemap', '/sitemap.xml');
    text = 'one\ntwo';
    await ingesting().run(attempt(ids));
    const before = await live(ids.sourceId);
    [text, isListed] = [undefined, false];
    for (let sync = 0; sync < 2; sync++) {
      const { warnings } = (await ingesting().run(attempt(await again(ids)))) as { warnings: readonly string[] };
      expect(warnings.map((warning) => warning.slice(site.url.length))).toEqual([
        '/sitemap.xml: It answered with HTTP status 503. What was read of it before is kept.',
        '/page: It answered with HTTP status 503. What was read of it before is kept.',
      ]);
    }
    isListed = true;
    expect([await live(ids.sourceId), await texts()]).toEqual([before, ['one', 'two', 'other']]);
  });

  it('without any text fail the ingestion', async () => {
    text = '';
    await expect(ingesting().run(attempt(await added()))).rejects.toMatchObject({ code: 'document-unreadable' });
  });
});
