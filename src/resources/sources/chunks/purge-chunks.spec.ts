import { beforeEach, expect, it } from '@jest/globals';
import { eventsOf } from '../../../../test/contracts/event-store.subject.js';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { lastEvent, WrongRevision } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { ReadModelsBehind } from '../../../kernel/event-sourcing/freshness.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { ChunkWriter } from './chunk-writer.js';
import { PurgeSourceChunksHandler } from './chunks.commands.js';
import { PurgeChunks } from './purge-chunks.reaction.js';
import { sourceCodec } from '../source/source.codec.js';
import {
  chunksStream,
  type SourceDeleted,
  type SourceEvent,
  type SourceIngestCompleted,
  sourceStream,
} from '../source/source.events.js';
import { systemTiming } from '../../../platform/system-timing.js';

const sourceId = 's1';
const chunk = { title: 'T', text: 'Water the plants.', tokens: 4 };
let store: InMemoryEventStore;
let streams: Streams;
let isReached: boolean;
let reaction: PurgeChunks;
beforeEach(() => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  isReached = true;
  reaction = new PurgeChunks(store, commandsOver(new PurgeSourceChunksHandler(streams)), {
    reached: () => Promise.resolve(isReached),
  });
});

const writer = (chunksId: string) => ChunkWriter.open({ store, streams, embeddings: undefined }, { chunksId, sourceId }, cause);
const write = async (chunksId: string) => (await writer(chunksId)).write(0, 'a.md', [chunk], new AbortController().signal);
const typesOf = async (chunksId: string) => (await eventsOf(store.read(chunksStream(chunksId)))).map(({ type }) => type);

async function told<E extends SourceEvent>(event: E): Promise<Recorded<E>> {
  const stream = sourceStream(sourceId);
  const expected = (await lastEvent(store, stream))?.revision ?? 'none';
  await streams.append(stream, expected, sourceCodec, [event], cause);
  return decode<SourceEvent>(sourceCodec, (await lastEvent(store, stream))!) as Recorded<E>;
}
async function ingested(ingestId: string, chunksId: string): Promise<Recorded<SourceIngestCompleted>> {
  await told({ type: 'SourceIngestStarted', data: { sourceId, ingestId, chunksId } });
  await write(chunksId);
  return told({ type: 'SourceIngestCompleted', data: { sourceId, ingestId, chunksId, chunks: 1, tokens: 4 } });
}
const deleted = () => told<SourceDeleted>({ type: 'SourceDeleted', data: { sourceId } });

it('replaced chunks are purged once and searched chunks are kept', async () => {
  await reaction.on.SourceIngestCompleted(await ingested('i1', 'c1'));
  const second = await ingested('i2', 'c2');
  await reaction.on.SourceIngestCompleted(second);
  await reaction.on.SourceIngestCompleted(second);
  expect([await typesOf('c1'), await typesOf('c2')]).toEqual([
    ['SourceChunksIngested', 'SourceChunksPurged'],
    ['SourceChunksIngested'],
  ]);
});

it('an event that is handled late does not purge newer chunks', async () => {
  await ingested('i1', 'c1');
  const second = await ingested('i2', 'c2');
  await ingested('i3', 'c3');
  await reaction.on.SourceIngestCompleted(second);
  expect([await typesOf('c1'), await typesOf('c2')]).toEqual([
    ['SourceChunksIngested', 'SourceChunksPurged'],
    ['SourceChunksIngested'],
  ]);
});

it('nothing is purged before the read model has the event', async () => {
  await ingested('i1', 'c1');
  isReached = false;
  const gone = await deleted();
  await expect(reaction.on.SourceDeleted(gone)).rejects.toThrow(ReadModelsBehind);
  expect(await typesOf('c1')).toEqual(['SourceChunksIngested']);
});

it('a worker that has not begun to write when the source is deleted cannot write any more', async () => {
  await told({ type: 'SourceIngestStarted', data: { sourceId, ingestId: 'i1', chunksId: 'c1' } });
  const late = await writer('c1');
  await reaction.on.SourceDeleted(await deleted());
  await expect(late.write(0, 'a.md', [chunk], new AbortController().signal)).rejects.toThrow(WrongRevision);
  expect(await typesOf('c1')).toEqual(['SourceChunksPurged']);
});
