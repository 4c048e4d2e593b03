import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import {
  completeIngest,
  deleteSource,
  failIngest,
  keepPages,
  keepUnpackedFiles,
  source,
  type Source,
  startIngest,
  createSource,
} from './source.decider.js';
import { DEFAULT_SOURCE_CONFIG } from './source-config.policy.js';
import type { SourceEvent } from './source.events.js';

const sourceId = 's1';
const created = { sourceId, ownerId: 'ann', name: 'Docs', config: DEFAULT_SOURCE_CONFIG, remote: null };
const files = [{ filename: 'a.md', sha256: 'x', size: 1 }];
const totals = { chunks: 2, tokens: 10 };
const uploaded: SourceEvent[] = [
  { type: 'SourceCreated', data: created },
  { type: 'SourceIngestRequested', data: { sourceId, ingestId: 'i1', ownerId: 'ann', files, operation: 'upload' } },
];
const started = (chunksId: string): SourceEvent => ({
  type: 'SourceIngestStarted',
  data: { sourceId, ingestId: 'i1', chunksId },
});
const completed: SourceEvent = { type: 'SourceIngestCompleted', data: { sourceId, ingestId: 'i1', chunksId: 'c1', ...totals } };
const failed: SourceEvent = { type: 'SourceIngestFailed', data: { sourceId, ingestId: 'i1', reason: 'x' } };
const deleted: SourceEvent = { type: 'SourceDeleted', data: { sourceId } };

describe('an upload', () => {
  it('creates a source and requests its ingestion, once', () => {
    given(source, [])
      .when(createSource(created, 'i1', files))
      .then(uploaded);
    given(source, uploaded)
      .when(createSource(created, 'i2', files))
      .thenNothing();
    given(source, [...uploaded, deleted])
      .when(createSource(created, 'i1', files))
      .thenNothing();
  });
});

describe('an ingestion', () => {
  it('starts, may start again with other chunks, and completes with the last ones', () => {
    given(source, uploaded)
      .when(startIngest(sourceId, 'i1', 'c1'))
      .then([started('c1')]);
    given(source, [...uploaded, started('c1')])
      .when(startIngest(sourceId, 'i1', 'c2'))
      .then([started('c2')]);
    given(source, [...uploaded, started('c1')])
      .when(completeIngest(sourceId, 'i1', 'c1', totals))
      .then([completed]);
    given(source, [...uploaded, started('c1'), started('c2')])
      .when(completeIngest(sourceId, 'i1', 'c1', totals))
      .thenRejected('ingest-superseded');
  });

  it('fails once, and not after it has completed', () => {
    given(source, [...uploaded, started('c1')])
      .when(failIngest(sourceId, 'i1', 'x'))
      .then([failed]);
    given(source, [...uploaded, failed])
      .when(failIngest(sourceId, 'i1', 'y'))
      .thenNothing();
    given(source, [...uploaded, started('c1'), completed])
      .when(failIngest(sourceId, 'i1', 'x'))
      .thenNothing();
    given(source, [...uploaded, failed])
      .when(startIngest(sourceId, 'i1', 'c1'))
      .thenRejected('ingest-superseded');
  });

  it('of a deleted source is refused', () => {
    const past = [...uploaded, started('c1'), deleted];
    given(source, past)
      .when(completeIngest(sourceId, 'i1', 'c1', totals))
      .thenRejected('source-not-found');
    given(source, past)
      .when(startIngest(sourceId, 'i1', 'c1'))
      .thenRejected('source-not-found');
    given(source, past)
      .when(failIngest(sourceId, 'i1', 'x'))
      .thenNothing();
  });
});

describe('pages', () => {
  const remote = { kind: 'url', urls: ['https://a.example/'] } as const;
  const asked: SourceEvent[] = [
    { type: 'SourceCreated', data: { ...created, remote } },
    {
      type: 'SourceIngestRequested',
      data: { sourceId, ingestId: 'i1', ownerId: 'ann', files: [], operation: 'upload' },
    },
  ];
  const pages = { files, sitemaps: [], failures: [{ url: 'https://a.example/gone', reason: 'Gone.' }], isCut: false };
  const fetched: SourceEvent = { type: 'SourcePagesFetched', data: { sourceId, ingestId: 'i1', ...pages } };

  it('are recorded once for an ingestion, by the first attempt', () => {
    given(source, asked)
      .when(keepPages(sourceId, 'i1', pages))
      .then([fetched]);
    given(source, [...asked, fetched])
      .when(keepPages(sourceId, 'i1', { ...pages, files: [] }))
      .thenNothing();
  });

  it('of a failed or unknown ingestion are not recorded', () => {
    given(source, [...asked, failed])
      .when(keepPages(sourceId, 'i1', pages))
      .thenRejected('ingest-superseded');
    given(source, asked)
      .when(keepPages(sourceId, 'i2', pages))
      .thenRejected('ingest-superseded');
    given(source, [])
      .when(keepPages(sourceId, 'i1', pages))
      .thenRejected('source-not-found');
  });
});

it('the files of archives are recorded once for an ingestion, by the first attempt', () => {
  const zip: SourceEvent = {
    type: 'SourceIngestRequested',
    data: { sourceId, ingestId: 'i1', ownerId: 'ann', files: [{ filename: 'a.zip', sha256: 'z', size: 2 }], operation: 'upload' },
  };
  const past: SourceEvent[] = [{ type: 'SourceCreated', data: created }, zip];
  const unpacked = { files, failures: [], isCut: false };
  const recorded: SourceEvent = { type: 'SourceArchivesUnpacked', data: { sourceId, ingestId: 'i1', ...unpacked } };
  given(source, past)
    .when(keepUnpackedFiles(sourceId, 'i1', unpacked))
    .then([recorded]);
  given(source, [...past, recorded])
    .when(keepUnpackedFiles(sourceId, 'i1', { ...unpacked, files: [] }))
    .thenNothing();
});

describe('the deletion', () => {
  it('is possible only for the owner, and once', () => {
    given(source, uploaded).when(deleteSource(sourceId, 'ann')).then([deleted]);
    given(source, [...uploaded, deleted])
      .when(deleteSource(sourceId, 'ann'))
      .thenNothing();
    given(source, uploaded).when(deleteSource(sourceId, 'bob')).thenRejected('source-not-found');
    given(source, []).when(deleteSource(sourceId, 'ann')).thenRejected('source-not-found');
  });
});

it('repeated decisions do nothing and a deleted source stays deleted, in any sequence of decisions', () => {
  const chunksId = fc.constantFrom('c1', 'c2');
  const ingestId = fc.constantFrom('i1', 'i2');
  const decision = fc.oneof(
    fc.constant(createSource(created, 'i1', files)),
    fc.tuple(ingestId, chunksId).map(([i, c]) => startIngest(sourceId, i, c)),
    fc.tuple(ingestId, chunksId).map(([i, c]) => completeIngest(sourceId, i, c, totals)),
    ingestId.map((i) => failIngest(sourceId, i, 'x')),
    fc.constant(deleteSource(sourceId, 'ann')),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 15 }), (decisions) => {
      let state: Source = source.initial;
      let completions = 0;
      for (const decide of decisions) {
        const before = state;
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(source.evolve, state);
        completions += events.filter(({ type }) => type === 'SourceIngestCompleted').length;
        expect(decide(state)).toEqual([]);
        if (before.status === 'deleted') expect(state).toEqual(before);
      }
      expect(completions).toBeLessThanOrEqual(1);
    }),
    { numRuns: 500 },
  );
});
