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

it('the first chunks leave none behind', () => expect(leftChunks(first)).toEqual([]));

it('new chunks leave those that were searched before', () => {
  const second = [...first, started('i2', 'c2'), completed('i2', 'c2')];
  expect(leftChunks(second)).toEqual(['c1']);
  expect(leftChunks([...second, started('i3', 'c3'), completed('i3', 'c3')])).toEqual(['c2']);
});

it('an ingestion that finds everything as it was leaves only what it had begun', () =>
  expect(leftChunks([...first, started('i2', 'c2'), started('i2', 'c1'), completed('i2', 'c1')])).toEqual(['c2']));

it('one that failed leaves what it had written, and what is searched stays', () => {
  expect(leftChunks([...first, started('i2', 'c2'), failed('i2')])).toEqual(['c2']);
  expect(leftChunks([...first, started('i2', 'c1'), failed('i2')])).toEqual([]);
});

it('one that begins anew with other chunks leaves those of before', () =>
  expect(leftChunks([...first, started('i2', 'c2'), started('i2', 'c3'), completed('i2', 'c3')])).toEqual(['c1', 'c2']));

it('a source that is deleted leaves all that are still there', () => {
  expect(leftChunks([...first, deleted])).toEqual(['c1']);
  expect(leftChunks([...first, started('i2', 'c2'), failed('i2'), started('i3', 'c3'), deleted])).toEqual(['c1', 'c3']);
});
