import { describe, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import { DEFAULT_SOURCE_CONFIG } from '../source/source-config.policy.js';
import { source } from '../source/source.decider.js';
import type { RemoteOrigin, SourceEvent, SourceFile } from '../source/source.events.js';
import { changeFiles, type FileChange } from './source-files.decider.js';

const sourceId = 's1';
const file = (filename: string, sha256 = 'x'): SourceFile => ({ filename, sha256, size: 1 });
const requested = (ingestId: string, files: readonly SourceFile[], operation: 'upload' | 'reingest' = 'upload'): SourceEvent => ({
  type: 'SourceIngestRequested',
  data: { sourceId, ingestId, ownerId: 'ann', files, operation },
});
const created = (remote: RemoteOrigin | null = null): SourceEvent => ({
  type: 'SourceCreated',
  data: { sourceId, ownerId: 'ann', name: 'Docs', config: DEFAULT_SOURCE_CONFIG, remote },
});
const started: SourceEvent = { type: 'SourceIngestStarted', data: { sourceId, ingestId: 'i1', chunksId: 'c1' } };
const completed: SourceEvent = {
  type: 'SourceIngestCompleted',
  data: { sourceId, ingestId: 'i1', chunksId: 'c1', chunks: 1, tokens: 1 },
};
const failed: SourceEvent = { type: 'SourceIngestFailed', data: { sourceId, ingestId: 'i1', reason: 'x' } };
const files = [file('a.md'), file('guide/b.md'), file('guide.md')];
const ready = [created(), requested('i1', files), started, completed];
const change = (asked: FileChange, by = 'ann', ingestId = 'i2') => changeFiles(sourceId, by, ingestId, asked);

describe('the files of a source', () => {
  it('are added and replace files of the same path', () => {
    given(source, ready)
      .when(change({ add: [file('a.md', 'y'), file('c.md')] }))
      .then([requested('i2', [file('guide/b.md'), file('guide.md'), file('a.md', 'y'), file('c.md')], 'reingest')]);
  });

  it('are removed by path or by directory', () => {
    given(source, ready)
      .when(change({ remove: ['a.md', 'unknown.md'] }))
      .then([requested('i2', [file('guide/b.md'), file('guide.md')], 'reingest')]);
    given(source, ready)
      .when(change({ removeDirectory: 'guide' }))
      .then([requested('i2', [file('a.md'), file('guide.md')], 'reingest')]);
  });

  it('are the unpacked ones of its archives', () => {
    const inside = [
      { ...file('a.md'), archive: 'all.zip' },
      { ...file('b.md'), archive: 'all.zip' },
    ];
    const unpacked: SourceEvent = {
      type: 'SourceArchivesUnpacked',
      data: { sourceId, ingestId: 'i1', files: inside, failures: [], isCut: false },
    };
    given(source, [created(), requested('i1', [file('all.zip')]), started, unpacked, completed])
      .when(change({ remove: ['a.md'] }))
      .then([requested('i2', [inside[1]!], 'reingest')]);
  });

  it('are removed also after a failed ingestion', () => {
    given(source, [created(), requested('i1', files), started, failed])
      .when(change({ remove: ['a.md'] }))
      .then([requested('i2', [file('guide/b.md'), file('guide.md')], 'reingest')]);
  });

  it('are not changed if none would remain or none matches', () => {
    given(source, ready)
      .when(change({ remove: ['a.md', 'guide/b.md', 'guide.md'] }))
      .thenRejected('invalid-request');
    given(source, ready)
      .when(change({ remove: ['b.md'] }))
      .thenRejected('source-file-not-found');
    given(source, ready)
      .when(change({ removeDirectory: 'gui' }))
      .thenRejected('source-file-not-found');
  });

  it('are changed only by their owner, once per request, and not during an ingestion', () => {
    given(source, [created(), requested('i1', files)])
      .when(change({ remove: ['a.md'] }))
      .thenRejected('source-being-ingested');
    given(source, ready)
      .when(change({ remove: ['a.md'] }, 'bob'))
      .thenRejected('source-not-found');
    given(source, [...ready, requested('i2', files, 'reingest')])
      .when(change({ remove: ['a.md'] }))
      .thenNothing();
  });

  it('are not changed if they are fetched', () => {
    const remote = { kind: 'url', urls: ['https://a.example'] } as const;
    given(source, [created(remote), requested('i1', [])])
      .when(change({ remove: ['a.md'] }))
      .thenRejected('source-is-remote');
  });
});
