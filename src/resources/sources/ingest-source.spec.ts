import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { attempt, cause, CountingEmbeddings, Ingestions } from '../../../test/support/ingestions.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { EditChunk, EditChunkHandler } from './chunks/chunks.commands.js';
import { RETRIES_MAX } from '../../work/tasks/task.policy.js';
import { AttemptFailed } from '../../work/tasks/task-runner.port.js';
import type { Embeddings } from '../models/model/embeddings.port.js';
import { ModelFailed } from '../models/model/language-model.port.js';
import { BATCH_BYTES_MAX } from './chunks/chunk-writer.js';
import { configureSource } from './source/source-config.decider.js';
import { DEFAULT_SOURCE_CONFIG } from './source/source-config.policy.js';
import { deleteSource, source } from './source/source.decider.js';
import { sourceStream } from './source/source.events.js';
import { ingestAgain } from './source/sync.decider.js';

let ingestions: Ingestions;
beforeEach(async () => {
  ingestions = await Ingestions.started();
});
afterEach(() => ingestions.close());

const again = async ({ sourceId }: { sourceId: string }) => {
  const taskId = newId();
  await ingestions.streams.transact(sourceStream(sourceId), source, ingestAgain(sourceId, 'ann', taskId, 'of-any-kind'), cause);
  return { sourceId, taskId };
};

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

it('writes the chunks of unchanged files again if its owner has edited them and asks for an ingestion', async () => {
  const ids = await ingestions.uploaded('one');
  await ingestions.ingesting().run(attempt(ids));
  const [{ chunksId } = { chunksId: '' }] = await ingestions.batches();
  const edit = { kind: 'remove', ordinal: 0 } as const;
  await new EditChunkHandler(ingestions.streams).execute(new EditChunk(chunksId, ids.sourceId, edit, cause));
  await ingestions.ingesting().run(attempt(await again(ids)));
  expect(ingestions.documents.reads).toEqual(['0.txt', '0.txt']);
  await ingestions.ingesting().run(attempt(await again(ids)));
  expect(ingestions.documents.reads).toHaveLength(2);
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

  it('is unpacked as far as the list of files has room beside the other files, and the result says so', async () => {
    const filename = `${'x'.repeat(640 * 1024 - 300)}.txt`;
    const entries = { 'one.txt': 'one', 'two.txt': 'two' };
    const ids = await ingestions.uploadedArchive(
      entries,
      { filename, text: 'old' },
      { filename: 'docs/two.txt', text: 'old two' },
    );
    expect(await ingestions.ingesting().run(attempt(ids))).toMatchObject({ warnings: ['There are more files than were read.'] });
    expect(await ingestions.texts()).toEqual(['two', 'old']);
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

describe('texts that cannot be embedded', () => {
  const failing = (retriable: boolean): Embeddings => ({
    model: 'numbers',
    embed: () => Promise.reject(new ModelFailed('unavailable', 'The model is away.', retriable)),
  });

  it('fail the attempt, and after the last one the ingestion with the reason', async () => {
    const ids = await ingestions.uploaded('one');
    const run = (number: number) => ingestions.ingesting(failing(true)).run({ ...attempt(ids), attempt: number });
    await expect(run(RETRIES_MAX)).rejects.toThrow(AttemptFailed);
    await expect(run(RETRIES_MAX + 1)).rejects.toMatchObject({ code: 'chunks-not-embedded', message: 'The model is away.' });
  });

  it('fail the ingestion at once if a later attempt cannot succeed', async () => {
    const run = ingestions.ingesting(failing(false)).run(attempt(await ingestions.uploaded('one')));
    await expect(run).rejects.toMatchObject({ code: 'chunks-not-embedded' });
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
