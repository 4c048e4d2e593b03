import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { chunksCodec } from '../source/source.codec.js';
import { type ChunksEvent, chunksStream } from '../source/source.events.js';
import { EditChunk, EditChunkHandler, PurgeSourceChunks, PurgeSourceChunksHandler, type WantedEdit } from './chunks.commands.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;
const place = { chunksId: 'c1', sourceId: 's1' };
const chunk = { title: 'T', text: 'x', tokens: 1, filename: 'a.txt' };
const written = { chunk, embeddingModel: null };

let streams: Streams;
beforeEach(async () => {
  streams = new Streams(new InMemoryEventStore(), systemTiming);
  const batch = { ...place, file: 0, isLastOfFile: true, firstOrdinal: 0, embeddingModel: null, chunks: [chunk, chunk] };
  const ingested: ChunksEvent = { type: 'SourceChunksIngested', data: batch };
  await streams.append(chunksStream('c1'), 'none', chunksCodec, [ingested], cause);
});

const edit = async (wanted: WantedEdit, chunksId = 'c1') =>
  (await new EditChunkHandler(streams).execute(new EditChunk(chunksId, 's1', wanted, cause))).ordinal;

describe('an edit of a chunk', () => {
  it('adds after all ordinals that were ever used', async () => {
    expect(await edit({ kind: 'add', written })).toBe(2);
    expect(await edit({ kind: 'remove', ordinal: 2 })).toBe(2);
    expect(await edit({ kind: 'change', ordinal: 0, written })).toBe(0);
    expect(await edit({ kind: 'add', written })).toBe(3);
  });

  it('gives two concurrent additions different ordinals', async () => {
    const ordinals = await Promise.all([edit({ kind: 'add', written }), edit({ kind: 'add', written })]);
    expect(ordinals.toSorted()).toEqual([2, 3]);
  });

  it('is refused if the chunks are purged or do not exist', async () => {
    await new PurgeSourceChunksHandler(streams).execute(new PurgeSourceChunks('c1', 's1', cause));
    await expect(edit({ kind: 'add', written })).rejects.toThrow('Chunk not found');
    await expect(edit({ kind: 'remove', ordinal: 0 }, 'c2')).rejects.toThrow('Chunk not found');
  });
});
