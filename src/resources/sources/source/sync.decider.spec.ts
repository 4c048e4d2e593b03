import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import {
  completeIngest,
  createSource,
  deleteSource,
  failIngest,
  keepPages,
  openIngest,
  source,
  type Source,
  startIngest,
} from './source.decider.js';
import { DEFAULT_SOURCE_CONFIG } from './source-config.policy.js';
import type { SourceEvent } from './source.events.js';
import { addRemoteSource, fallDue, ingestAgain, setSyncFrequency } from './sync.decider.js';
import { nextSyncAfter, SYNC_FREQUENCIES } from './sync.policy.js';

const sourceId = 's1';
const remote = { kind: 'url', urls: ['https://a.example/'] } as const;
const created = { sourceId, ownerId: 'ann', name: 'Site', config: DEFAULT_SOURCE_CONFIG, remote };
const files = [{ filename: 'a.md', sha256: 'x', size: 1 }];
const day = (number: number) => `2026-03-${String(number).padStart(2, '0')}T08:00:00.000Z`;
const on = (number: number) => new Date(day(number));

const requested = (ingestId: string, operation: 'upload' | 'sync' | 'reingest'): SourceEvent => ({
  type: 'SourceIngestRequested',
  data: { sourceId, ingestId, ownerId: 'ann', files: [], operation },
});
const added: SourceEvent[] = [{ type: 'SourceCreated', data: created }, requested('i1', 'upload')];
const failed = (ingestId: string): SourceEvent => ({ type: 'SourceIngestFailed', data: { sourceId, ingestId, reason: 'x' } });
const frequencySet = (frequency: 'daily' | 'weekly', nextSyncAt: string): SourceEvent => ({
  type: 'SourceSyncFrequencySet',
  data: { sourceId, frequency, nextSyncAt },
});
const fellDue = (ingestId: string, dueAt: string, nextSyncAt: string): SourceEvent => ({
  type: 'SourceSyncDue',
  data: { sourceId, ingestId, dueAt, nextSyncAt },
});
const uploaded: SourceEvent[] = [
  { type: 'SourceCreated', data: { ...created, remote: null } },
  { type: 'SourceIngestRequested', data: { sourceId, ingestId: 'i1', ownerId: 'ann', files, operation: 'upload' } },
];

describe('a source of pages', () => {
  it('is fetched at once and then at its frequency', () => {
    given(source, [])
      .when(addRemoteSource(created, 'i1', 'never', on(1)))
      .then(added);
    given(source, [])
      .when(addRemoteSource(created, 'i1', 'weekly', on(1)))
      .then([...added, frequencySet('weekly', day(8))]);
    given(source, added)
      .when(addRemoteSource(created, 'i2', 'weekly', on(1)))
      .thenNothing();
  });
});

describe('the frequency', () => {
  it('starts the period when it changes, not when it is set to the same value', () => {
    given(source, added)
      .when(setSyncFrequency(sourceId, 'ann', 'daily', on(1)))
      .then([frequencySet('daily', day(2))]);
    given(source, [...added, frequencySet('daily', day(2))])
      .when(setSyncFrequency(sourceId, 'ann', 'daily', on(5)))
      .thenNothing();
    given(source, [...added, frequencySet('daily', day(2))])
      .when(setSyncFrequency(sourceId, 'ann', 'never', on(1)))
      .then([{ type: 'SourceSyncFrequencySet', data: { sourceId, frequency: 'never', nextSyncAt: null } }]);
  });

  it('is set only by the owner, and only for a remote source', () => {
    given(source, added)
      .when(setSyncFrequency(sourceId, 'bob', 'daily', on(1)))
      .thenRejected('source-not-found');
    given(source, uploaded)
      .when(setSyncFrequency(sourceId, 'ann', 'daily', on(1)))
      .thenRejected('source-not-remote');
  });
});

describe('another ingestion', () => {
  it('fetches the pages again or parses the files again', () => {
    given(source, [...added, failed('i1')])
      .when(ingestAgain(sourceId, 'ann', 'i2', 'of-pages'))
      .then([requested('i2', 'sync')]);
    given(source, [...added, failed('i1')])
      .when(ingestAgain(sourceId, 'ann', 'i2', 'of-any-kind'))
      .then([requested('i2', 'reingest')]);
    given(source, [...uploaded, failed('i1')])
      .when(ingestAgain(sourceId, 'ann', 'i2', 'of-any-kind'))
      .then([
        { type: 'SourceIngestRequested', data: { sourceId, ingestId: 'i2', ownerId: 'ann', files, operation: 'reingest' } },
      ]);
  });

  it('is requested only by the owner, and an uploaded source cannot be synced', () => {
    given(source, added)
      .when(ingestAgain(sourceId, 'bob', 'i2', 'of-any-kind'))
      .thenRejected('source-not-found');
    given(source, uploaded)
      .when(ingestAgain(sourceId, 'ann', 'i2', 'of-pages'))
      .thenRejected('source-not-remote');
  });

  it('is not requested while an ingestion is running', () => {
    given(source, added)
      .when(ingestAgain(sourceId, 'ann', 'i2', 'of-pages'))
      .thenNothing();
  });
});

describe('a sync that falls due', () => {
  const daily = [...added, failed('i1'), frequencySet('daily', day(2))];

  it('is begun once, and the next is due one period later', () => {
    given(source, daily)
      .when(fallDue(sourceId, 'i2', day(2), new Date('2026-03-02T08:00:07Z')))
      .then([fellDue('i2', day(2), day(3)), requested('i2', 'sync')]);
    given(source, [...daily, fellDue('i2', day(2), day(3)), requested('i2', 'sync')])
      .when(fallDue(sourceId, 'i2', day(2), on(2)))
      .thenNothing();
  });

  it('is begun once for all due times that have passed', () => {
    given(source, daily)
      .when(fallDue(sourceId, 'i2', day(2), new Date('2026-03-20T12:00:00Z')))
      .then([fellDue('i2', day(2), day(21)), requested('i2', 'sync')]);
  });

  it('is the ingestion that is already running', () => {
    given(source, [...added, frequencySet('daily', day(2))])
      .when(fallDue(sourceId, 'i2', day(2), on(2)))
      .then([fellDue('i1', day(2), day(3))]);
  });

  it('is not begun before its time, for another time, for a deleted source, or with the frequency never', () => {
    given(source, daily)
      .when(fallDue(sourceId, 'i2', day(2), on(1)))
      .thenNothing();
    given(source, daily)
      .when(fallDue(sourceId, 'i2', day(1), on(2)))
      .thenNothing();
    given(source, [...daily, { type: 'SourceDeleted', data: { sourceId } }])
      .when(fallDue(sourceId, 'i2', day(2), on(2)))
      .thenNothing();
    given(source, [...daily, { type: 'SourceSyncFrequencySet', data: { sourceId, frequency: 'never', nextSyncAt: null } }])
      .when(fallDue(sourceId, 'i2', day(2), on(2)))
      .thenNothing();
  });
});

it('a monthly sync falls due after thirty days', () => {
  expect(nextSyncAfter('monthly', day(1), on(1))).toBe(day(31));
  expect(nextSyncAfter('never', day(1), on(1))).toBeNull();
});

it('each due time begins at most one ingestion, one runs at a time, and repeated decisions do nothing, in any sequence of decisions', () => {
  const ingestId = fc.constantFrom('i1', 'i2', 'i3', 'i4');
  const now = fc.integer({ min: 1, max: 28 }).map(on);
  const decision = fc.oneof(
    fc.constant(createSource(created, 'i1', [])),
    fc.tuple(fc.constantFrom(...SYNC_FREQUENCIES), now).map(([f, at]) => setSyncFrequency(sourceId, 'ann', f, at)),
    ingestId.map((i) => ingestAgain(sourceId, 'ann', i, 'of-pages')),
    fc.tuple(ingestId, fc.integer({ min: 1, max: 28 }), now).map(([i, due, at]) => fallDue(sourceId, i, day(due), at)),
    ingestId.map((i) => startIngest(sourceId, i, `c${i}`)),
    ingestId.map((i) => keepPages(sourceId, i, { files, sitemaps: [], failures: [], isCut: false })),
    ingestId.map((i) => completeIngest(sourceId, i, `c${i}`, { chunks: 1, tokens: 1 })),
    ingestId.map((i) => failIngest(sourceId, i, 'x')),
    fc.constant(deleteSource(sourceId, 'ann')),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 40 }), (decisions) => {
      let state: Source = source.initial;
      let lastDue = '';
      for (const decide of decisions) {
        const before = state;
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(source.evolve, state);
        expect(decide(state)).toEqual([]);
        if (events.some(({ type }) => type === 'SourceIngestRequested')) expect(openIngest(before)).toBeUndefined();
        for (const event of events) {
          if (event.type === 'SourceSyncFrequencySet') lastDue = '';
          if (event.type !== 'SourceSyncDue') continue;
          expect(event.data.dueAt > lastDue).toBe(true);
          expect(event.data.nextSyncAt > event.data.dueAt).toBe(true);
          lastDue = event.data.dueAt;
        }
        expect(state.nextSyncAt !== null).toBe(state.status === 'kept' && state.syncFrequency !== 'never');
      }
    }),
    { numRuns: 1_000 },
  );
});
