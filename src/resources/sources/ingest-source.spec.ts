import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { attempt, cause, CountingEmbeddings, Ingestions } from '../../../test/support/ingestions.js';
import { LocalServer } from '../../../test/support/local-server.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { AttemptFailed } from '../../work/tasks/task-runner.port.js';
import { RETRIES_MAX } from '../../work/tasks/task.policy.js';
import { BATCH_BYTES_MAX } from './chunks/chunk-writer.js';
import { configureSource } from './source/source-config.decider.js';
import { DEFAULT_SOURCE_CONFIG } from './source/source-config.policy.js';
import { createSource, deleteSource, source } from './source/source.decider.js';
import { sourceStream } from './source/source.events.js';
import { ingestAgain } from './source/sync.decider.js';

let ingestions: Ingestions;
beforeEach(async () => {
  ingestions = await Ingestions.started();
});
afterEach(() => ingestions.close());

it('writes the chunks of every file and then completes the ingestion', async () => {
  const ids = await ingestions.uploaded('one\ntwo', 'three');
  const percents: number[] = [];
  const result = await ingestions.ingesting().run(attempt(ids, (percent) => Promise.resolve(void percents.push(percent))));
  expect(result).toEqual({
    directory: 'inputs/ann/Docs',
    formats: ['.txt'],
    name_job: 'Docs',
    filename: '0.txt, 1.txt',
    user: 'ann',
    limited: false,
  });
  expect(percents).toEqual([0, 25, 50, 75]);
  const [first] = await ingestions.batches();
  const completed = (await ingestions.all('source')).at(-1);
  expect(completed).toEqual({
    type: 'SourceIngestCompleted',
    data: { ...ids, taskId: undefined, ingestId: ids.taskId, chunksId: first!.chunksId, chunks: 3, tokens: 6 },
  });
  expect((await ingestions.batches()).map(({ file, firstOrdinal, isLastOfFile }) => [file, firstOrdinal, isLastOfFile])).toEqual([
    [0, 0, true],
    [1, 2, true],
  ]);
});

it('ends only when searches find the chunks, even if the read model is slow', async () => {
  const ids = await ingestions.uploaded('one');
  ingestions.lag = 3;
  await ingestions.ingesting().run(attempt(ids));
  expect(ingestions.lag).toBe(0);
});

it('continues an interrupted attempt without storing or embedding chunks twice or reading finished files again', async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} of ${count}`);
  const ids = await ingestions.uploaded(lines(3).join('\n'), lines(100).join('\n'), 'end');
  const embeddings = new CountingEmbeddings();
  let written = 0;
  const append = ingestions.store.append.bind(ingestions.store);
  ingestions.store.append = (stream, expected, events) => {
    if (stream.startsWith('chunks-') && ++written === 3) return Promise.reject(new Error('The process ends here.'));
    return append(stream, expected, events);
  };
  await expect(ingestions.ingesting(embeddings).run(attempt(ids))).rejects.toThrow('ends here');
  ingestions.store.append = append;
  const before = (await ingestions.texts()).length;
  const counted = embeddings.embedded;
  ingestions.documents.reads = [];
  await ingestions.ingesting(embeddings).run(attempt(ids));
  expect(await ingestions.texts()).toEqual([...lines(3), ...lines(100), 'end']);
  expect(ingestions.documents.reads).toEqual(['1.txt', '2.txt']);
  expect(embeddings.embedded - counted).toBe(104 - before);
  expect((await ingestions.all('source')).filter(({ type }) => type === 'SourceIngestStarted')).toHaveLength(1);
});

it('returns the same result when a completed ingestion is attempted again', async () => {
  const ids = await ingestions.uploaded('one');
  const first = await ingestions.ingesting().run(attempt(ids));
  const events = (await ingestions.all('source')).length;
  expect(await ingestions.ingesting().run(attempt(ids))).toEqual(first);
  expect((await ingestions.all('source')).length).toBe(events);
});

it('does not append a batch twice when the store’s answer is lost', async () => {
  const ids = await ingestions.uploaded('one\ntwo');
  const append = ingestions.store.append.bind(ingestions.store);
  let lost = false;
  ingestions.store.append = async (stream, expected, events) => {
    const appended = await append(stream, expected, events);
    if (stream.startsWith('chunks-') && !lost) {
      lost = true;
      throw new StoreUnavailable('The answer was lost.');
    }
    return appended;
  };
  await ingestions.ingesting().run(attempt(ids));
  expect(await ingestions.texts()).toEqual(['one', 'two']);
});

describe('a source whose config changes', () => {
  const cutAt = async ({ sourceId }: { sourceId: string }, max_tokens: number) => {
    const { chunking, ...others } = DEFAULT_SOURCE_CONFIG;
    const decide = configureSource(sourceId, 'ann', { ...others, chunking: { ...chunking, max_tokens } });
    await ingestions.streams.transact(sourceStream(sourceId), source, decide, cause);
  };
  const again = async ({ sourceId }: { sourceId: string }) => {
    const taskId = newId();
    await ingestions.streams.transact(sourceStream(sourceId), source, ingestAgain(sourceId, 'ann', taskId, 'of-any-kind'), cause);
    return { sourceId, taskId };
  };

  it('is cut anew by the next ingestion, not before', async () => {
    const ids = await ingestions.uploaded('one', 'two');
    await ingestions.ingesting().run(attempt(ids));
    await cutAt(ids, 500);
    await ingestions.ingesting().run(attempt(await again(ids)));
    expect(ingestions.documents.cutAt).toEqual([1250, 1250, 500, 500]);
    await ingestions.ingesting().run(attempt(await again(ids)));
    expect(ingestions.documents.cutAt).toHaveLength(4);
    expect(new Set((await ingestions.batches()).map(({ chunksId }) => chunksId)).size).toBe(2);
  });

  it('keeps its chunks in the next ingestion if the change was reverted or does not affect cutting', async () => {
    const ids = await ingestions.uploaded('one');
    await ingestions.ingesting().run(attempt(ids));
    await cutAt(ids, 500);
    await cutAt(ids, 1250);
    const { chunking, ...others } = DEFAULT_SOURCE_CONFIG;
    const decide = configureSource(ids.sourceId, 'ann', { ...others, chunking: { ...chunking, strategy: 'semantic' } });
    await ingestions.streams.transact(sourceStream(ids.sourceId), source, decide, cause);
    await ingestions.ingesting().run(attempt(await again(ids)));
    expect(ingestions.documents.cutAt).toEqual([1250]);
  });

  it('during an ingestion is cut with the config of its beginning, also by a later attempt', async () => {
    const ids = await ingestions.uploaded('one', 'broken', 'three');
    await expect(ingestions.ingesting().run(attempt(ids))).rejects.toThrow('broken');
    ingestions.documents.isRepaired = true;
    await cutAt(ids, 500);
    await ingestions.ingesting().run(attempt(ids));
    expect(ingestions.documents.cutAt).toEqual([1250, 1250, 1250, 1250]);
    expect(await ingestions.texts()).toEqual(['one', 'broken', 'three']);
  });
});

it('limits the size of a batch when chunks are long', async () => {
  const ids = await ingestions.uploaded(Array.from({ length: 12 }, (_, index) => `${index}`.repeat(50_000)).join('\n'));
  await ingestions.ingesting().run(attempt(ids));
  for (const batch of await ingestions.batches())
    expect(JSON.stringify(batch.chunks).length).toBeLessThan(BATCH_BYTES_MAX + 10_000);
  expect(await ingestions.texts()).toHaveLength(12);
});

it('refuses files without text and broken files with their names', async () => {
  await expect(ingestions.ingesting().run(attempt(await ingestions.uploaded('', '\n')))).rejects.toMatchObject({
    message: 'There is no text in 0.txt, 1.txt.',
  });
  await expect(ingestions.ingesting().run(attempt(await ingestions.uploaded('fine', 'broken')))).rejects.toMatchObject({
    message: '1.txt is broken.',
  });
});

describe('an uploaded archive', () => {
  it('is ingested as its documents, with warnings about files that are not read', async () => {
    const ids = await ingestions.uploadedArchive(
      { 'a/one.txt': 'one', 'b.txt': 'broken', 'c.png': 'x' },
      { filename: 'two.txt', text: 'two' },
    );
    expect(await ingestions.ingesting().run(attempt(ids))).toEqual({
      directory: 'inputs/ann/Docs',
      formats: ['.txt'],
      name_job: 'Docs',
      filename: 'docs.zip, two.txt',
      user: 'ann',
      limited: false,
      warnings: ['docs.zip/c.png: Files of this kind are not accepted.', 'docs/b.txt: There is no text in it.'],
    });
    expect(ingestions.documents.reads).toEqual(['docs/a/one.txt', 'docs/b.txt', 'two.txt']);
    expect(await ingestions.texts()).toEqual(['one', 'two']);
  });

  it('replaces the files with the paths of its documents', async () => {
    const ids = await ingestions.uploadedArchive(
      { 'a/one.txt': 'new' },
      { filename: 'docs/a/one.txt', text: 'old' },
      { filename: 'docs/a/two.txt', text: 'two' },
    );
    await ingestions.ingesting().run(attempt(ids));
    expect([ingestions.documents.reads, await ingestions.texts()]).toEqual([
      ['docs/a/one.txt', 'docs/a/two.txt'],
      ['new', 'two'],
    ]);
  });

  it('is unpacked only once, even if the ingestion is interrupted afterwards', async () => {
    const ids = await ingestions.uploadedArchive({ 'one.txt': 'one' });
    const append = ingestions.store.append.bind(ingestions.store);
    ingestions.store.append = (stream, ...rest) =>
      stream.startsWith('chunks-') ? Promise.reject(new Error('The process ends here.')) : append(stream, ...rest);
    await expect(ingestions.ingesting().run(attempt(ids))).rejects.toThrow('ends here');
    ingestions.store.append = append;
    await ingestions.ingesting().run(attempt(ids));
    const types = (await ingestions.all('source')).map(({ type }) => type);
    expect(types.filter((type) => type === 'SourceArchivesUnpacked')).toHaveLength(1);
    expect(types.at(-1)).toBe('SourceIngestCompleted');
  });

  it('that could not be unpacked is unpacked by the next ingestion', async () => {
    const ids = await ingestions.uploadedArchive({ 'one.txt': 'one' });
    await ingestions.ingesting().failed(ids.taskId, { sourceId: ids.sourceId }, 'Away.', cause);
    const taskId = newId();
    await ingestions.streams.transact(
      sourceStream(ids.sourceId),
      source,
      ingestAgain(ids.sourceId, 'ann', taskId, 'of-any-kind'),
      cause,
    );
    await ingestions.ingesting().run(attempt({ ...ids, taskId }));
    expect(await ingestions.texts()).toEqual(['one']);
  });
});

it('stops when the source is deleted during the ingestion', async () => {
  const ids = await ingestions.uploaded('one', 'two');
  const deleteNow = async () => {
    await ingestions.streams.transact(sourceStream(ids.sourceId), source, deleteSource(ids.sourceId, 'ann'), cause);
  };
  await expect(ingestions.ingesting().run(attempt(ids, deleteNow))).rejects.toMatchObject({ code: 'source-not-found' });
  expect((await ingestions.all('source')).at(-1)?.type).toBe('SourceDeleted');
});

it('records a final failure once', async () => {
  const { sourceId, taskId } = await ingestions.uploaded('broken');
  for (let time = 0; time < 2; time++) await ingestions.ingesting().failed(taskId, { sourceId }, 'It is broken.', cause);
  expect((await ingestions.all('source')).filter(({ type }) => type === 'SourceIngestFailed')).toHaveLength(1);
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
    await ingestions.streams.transact(sourceStream(ids.sourceId), source, createSource(created, ids.taskId, []), cause);
    return ids;
  }
  const again = async ({ sourceId }: { sourceId: string }) => {
    const taskId = newId();
    await ingestions.streams.transact(sourceStream(sourceId), source, ingestAgain(sourceId, 'ann', taskId, 'of-pages'), cause);
    return { sourceId, taskId };
  };
  const live = async (sourceId: string) => (await ingestions.streams.fold(sourceStream(sourceId), source)).state.live?.chunksId;

  it('are fetched only once, even if the ingestion is interrupted afterwards', async () => {
    const ids = await added();
    text = 'one\ntwo';
    const append = ingestions.store.append.bind(ingestions.store);
    ingestions.store.append = (stream, ...rest) =>
      stream.startsWith('chunks-') ? Promise.reject(new Error('The process ends here.')) : append(stream, ...rest);
    await expect(ingestions.ingesting().run(attempt(ids))).rejects.toThrow('ends here');
    ingestions.store.append = append;
    text = 'other';
    const result = await ingestions.ingesting().run(attempt(ids));
    expect(result).toEqual({
      id: ids.sourceId,
      urls: `${site.url}/page`,
      name_job: 'Site',
      user: 'ann',
      limited: false,
      pages: 1,
      warnings: [],
    });
    expect([await ingestions.texts(), site.requests.length]).toEqual([['one', 'two'], 1]);
    expect(await ingestions.ingesting().run(attempt(ids))).toEqual(result);
  });

  it('with unchanged content keep their chunks, without being stored or embedded again', async () => {
    const ids = await added();
    const embeddings = new CountingEmbeddings();
    text = 'one\ntwo';
    await ingestions.ingesting(embeddings).run(attempt(ids));
    const before = await live(ids.sourceId);
    await ingestions.ingesting(embeddings).run(attempt(await again(ids)));
    await ingestions.ingesting(embeddings).run(attempt(await again(ids)));
    expect([await live(ids.sourceId), embeddings.embedded, (await ingestions.batches()).length]).toEqual([before, 2, 1]);
    // Without the embeddings model the chunks differ, so they are written again.
    await ingestions.ingesting().run(attempt(await again(ids)));
    expect(await live(ids.sourceId)).not.toBe(before);
  });

  it('with the content of an earlier version are stored again, because replaced chunks are not kept', async () => {
    const ids = await added();
    const lives: unknown[] = [];
    for (const [index, each] of ['one', 'two', 'one'].entries()) {
      text = each;
      await ingestions.ingesting().run(attempt(index === 0 ? ids : await again(ids)));
      lives.push(await live(ids.sourceId));
    }
    expect([new Set(lives).size, await ingestions.texts()]).toEqual([3, ['one', 'two', 'one']]);
  });

  it('that are temporarily unavailable are fetched again by the next attempt, and the last attempt fails with the reason', async () => {
    const ids = await added();
    text = undefined;
    const tried = (number: number) => ingestions.ingesting().run({ ...attempt(ids), attempt: number });
    const reason = `No page could be fetched. ${site.url}/page: It answered with HTTP status 503.`;
    const first = await tried(1).catch((error: unknown) => error);
    expect([first instanceof AttemptFailed, (first as Error).message]).toEqual([true, reason]);
    await expect(tried(RETRIES_MAX + 1)).rejects.toMatchObject({ code: 'pages-not-fetched', message: reason });
    text = 'there';
    await tried(2);
    expect(await ingestions.texts()).toEqual(['there']);
  });

  it('that are temporarily unavailable, with their sitemap, keep their chunks', async () => {
    const ids = await added('sitemap', '/sitemap.xml');
    text = 'one\ntwo';
    await ingestions.ingesting().run(attempt(ids));
    const before = await live(ids.sourceId);
    [text, isListed] = [undefined, false];
    for (let sync = 0; sync < 2; sync++) {
      const { warnings } = (await ingestions.ingesting().run(attempt(await again(ids)))) as { warnings: readonly string[] };
      expect(warnings.map((warning) => warning.slice(site.url.length))).toEqual([
        '/sitemap.xml: It answered with HTTP status 503. What was read of it before is kept.',
        '/page: It answered with HTTP status 503. What was read of it before is kept.',
      ]);
    }
    isListed = true;
    expect([await live(ids.sourceId), await ingestions.texts()]).toEqual([before, ['one', 'two', 'other']]);
  });

  it('without any text fail the ingestion', async () => {
    text = '';
    await expect(ingestions.ingesting().run(attempt(await added()))).rejects.toMatchObject({ code: 'document-unreadable' });
  });
});
