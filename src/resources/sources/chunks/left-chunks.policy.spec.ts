import { expect, it } from '@jest/globals';
import { leftChunks } from './left-chunks.policy.js';
import type { SourceEvent } from '../source/source.events.js';

const sourceId = 's1';
const started = (ingestId: string, chunksId: string): SourceEvent => ({
  type: 'SourceIngestStarted',
  data: { sourceId, ingestId, chunksId },
});
const completed = (ingestId: string, chunksId: string): SourceEvent => ({
  type: 'SourceIngestCompleted',
  data: { sourceId, ingestId, chunksId, chunks: 1, tokens: 1 },
});
const failed = (ingestId: string): SourceEvent => ({ type: 'SourceIngestFailed', data: { sourceId, ingestId, reason: 'No.' } });
const deleted: SourceEvent = { type: 'SourceDeleted', data: { sourceId } };
const first = [started('i1', 'c1'), completed('i1', 'c1')];

it('the first ingestion makes no chunks obsolete', () => expect(leftChunks(first)).toEqual([]));

it('a new ingestion makes the chunks before obsolete', () => {
  const second = [...first, started('i2', 'c2'), completed('i2', 'c2')];
  expect(leftChunks(second)).toEqual(['c1']);
  expect(leftChunks([...second, started('i3', 'c3'), completed('i3', 'c3')])).toEqual(['c2']);
});

it('an ingestion without changes makes only the chunks that it began obsolete', () =>
  expect(leftChunks([...first, started('i2', 'c2'), started('i2', 'c1'), completed('i2', 'c1')])).toEqual(['c2']));

it('a failed ingestion makes its own chunks obsolete, not those that are searched', () => {
  expect(leftChunks([...first, started('i2', 'c2'), failed('i2')])).toEqual(['c2']);
  expect(leftChunks([...first, started('i2', 'c1'), failed('i2')])).toEqual([]);
});

it('an ingestion that restarts with other chunks makes its first chunks obsolete too', () =>
  expect(leftChunks([...first, started('i2', 'c2'), started('i2', 'c3'), completed('i2', 'c3')])).toEqual(['c1', 'c2']));

it('a deletion makes all remaining chunks obsolete', () => {
  expect(leftChunks([...first, deleted])).toEqual(['c1']);
  expect(leftChunks([...first, started('i2', 'c2'), failed('i2'), started('i3', 'c3'), deleted])).toEqual(['c1', 'c3']);
});
