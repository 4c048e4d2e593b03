import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import { configureSource, needsIngestion } from './source-config.decider.js';
import { DEFAULT_SOURCE_CONFIG, type GivenSourceConfig, type SourceConfig } from './source-config.policy.js';
import { completeIngest, createSource, failIngest, source, type Source, startIngest } from './source.decider.js';
import type { SourceEvent } from './source.events.js';
import { ingestAgain } from './sync.decider.js';

const sourceId = 's1';
const files = [{ filename: 'a.md', sha256: 'x', size: 1 }];
const created = { sourceId, ownerId: 'ann', name: 'Docs', config: DEFAULT_SOURCE_CONFIG, remote: null };
const cutAt = (max_tokens: number, more: Partial<SourceConfig> = {}): SourceConfig => ({
  ...DEFAULT_SOURCE_CONFIG,
  chunking: { ...DEFAULT_SOURCE_CONFIG.chunking, max_tokens },
  ...more,
});
const configured = (config: SourceConfig): SourceEvent => ({ type: 'SourceConfigured', data: { sourceId, config } });
const requested = (ingestId: string): SourceEvent => ({
  type: 'SourceIngestRequested',
  data: { sourceId, ingestId, ownerId: 'ann', files, operation: 'reingest' },
});
const started = (ingestId: string, chunksId = ingestId): SourceEvent => ({
  type: 'SourceIngestStarted',
  data: { sourceId, ingestId, chunksId },
});
const completed = (ingestId: string, chunksId = ingestId): SourceEvent => ({
  type: 'SourceIngestCompleted',
  data: { sourceId, ingestId, chunksId, chunks: 1, tokens: 1 },
});
const failed = (ingestId: string): SourceEvent => ({ type: 'SourceIngestFailed', data: { sourceId, ingestId, reason: 'x' } });
const kept: SourceEvent[] = [{ type: 'SourceCreated', data: created }, requested('i1')];
const searched: SourceEvent[] = [...kept, started('i1'), completed('i1')];
const after = (...events: SourceEvent[]): Source => events.reduce(source.evolve, source.initial);

describe('a config', () => {
  const configure = (config: GivenSourceConfig, ownerId = 'ann') => configureSource(sourceId, ownerId, config);

  it('replaces the one before as a whole, once', () => {
    given(source, searched)
      .when(configure(cutAt(500)))
      .then([configured(cutAt(500))]);
    given(source, [...searched, configured(cutAt(500))])
      .when(configure(cutAt(500)))
      .thenNothing();
    given(source, searched).when(configure(DEFAULT_SOURCE_CONFIG)).thenNothing();
  });

  it('is unchanged if only the order of its fields differs', () => {
    const { graph, retrieval, chunking, kind } = DEFAULT_SOURCE_CONFIG;
    const { strategy, ...others } = chunking;
    given(source, searched)
      .when(configure({ graph, retrieval, chunking: { ...others, strategy }, kind }))
      .thenNothing();
  });

  it('without a kind keeps the source’s kind', () => {
    const wiki = { ...DEFAULT_SOURCE_CONFIG, kind: 'wiki' } as const;
    given(source, [...searched, configured(wiki)])
      .when(configure({ ...cutAt(500), kind: undefined }))
      .then([configured(cutAt(500, { kind: 'wiki' }))]);
  });

  it('is changed only by the owner of an existing source', () => {
    const deleted: SourceEvent = { type: 'SourceDeleted', data: { sourceId } };
    given(source, searched)
      .when(configure(cutAt(500), 'bob'))
      .thenRejected('source-not-found');
    given(source, [])
      .when(configure(cutAt(500)))
      .thenRejected('source-not-found');
    given(source, [...searched, deleted])
      .when(configure(cutAt(500)))
      .thenRejected('source-not-found');
  });
});

describe('the need for another ingestion', () => {
  const needs = (...events: SourceEvent[]) => needsIngestion(after(...events));

  it('arises from a change of the chunking, and ends when it is reverted or the source is ingested again', () => {
    expect(needs(...searched)).toBe(false);
    const changed = [...searched, configured(cutAt(500))];
    expect(needs(...changed)).toBe(true);
    expect(needs(...changed, configured(DEFAULT_SOURCE_CONFIG))).toBe(false);
    const again = [...changed, requested('i2')];
    expect(needs(...again)).toBe(false);
    expect(needs(...again, started('i2'))).toBe(false);
    expect(needs(...again, started('i2'), completed('i2'))).toBe(false);
    expect(needs(...again, started('i2'), failed('i2'))).toBe(true);
  });

  it('arises from a change during an ingestion, which continues with its first chunking', () => {
    const during = [...kept, started('i1'), configured(cutAt(500))];
    expect(after(...during).ingest?.chunking?.max_tokens).toBe(1250);
    expect(needs(...during)).toBe(true);
    // The next attempt continues with the same chunks.
    expect(after(...during, started('i1')).ingest?.chunking?.max_tokens).toBe(1250);
    expect(needs(...during, completed('i1'))).toBe(true);
  });

  it('remains after an ingestion that kept the chunks of unchanged pages', () => {
    const same = [
      ...searched,
      configured(cutAt(500)),
      requested('i2'),
      started('i2'),
      started('i2', 'i1'),
      completed('i2', 'i1'),
    ];
    expect(after(...same).live?.chunking.max_tokens).toBe(1250);
    expect(needs(...same)).toBe(true);
  });

  it('does not arise from settings that do not affect cutting, or before the first chunks', () => {
    const { chunking } = DEFAULT_SOURCE_CONFIG;
    expect(needs(...searched, configured(cutAt(1250, { kind: 'wiki', chunking: { ...chunking, chunk_overlap: 5 } })))).toBe(
      false,
    );
    expect(needs(...kept, configured(cutAt(500)))).toBe(false);
    expect(needs(...kept, failed('i1'), configured(cutAt(500)))).toBe(false);
  });
});

it('a config that was set is the current one, and setting it again does nothing, in any sequence of decisions', () => {
  const totals = { chunks: 1, tokens: 1 };
  const step = fc.oneof(
    fc.record({ max: fc.constantFrom(100, 500, 1250), kind: fc.constantFrom('classic', 'wiki', undefined) }),
    fc.constantFrom('again', 'start', 'complete', 'fail'),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let state = createSource(created, 'i0', files)(source.initial).reduce(source.evolve, source.initial);
      steps.forEach((each, index) => {
        const { ingestId = '' } = state.ingest ?? {};
        const decide =
          typeof each === 'object'
            ? configureSource(sourceId, 'ann', { ...cutAt(each.max), kind: each.kind })
            : {
                again: ingestAgain(sourceId, 'ann', `i${index + 1}`, 'of-any-kind'),
                start: startIngest(sourceId, ingestId, ingestId),
                complete: completeIngest(sourceId, ingestId, ingestId, totals),
                fail: failIngest(sourceId, ingestId, 'x'),
              }[each];
        const events = eventsUnlessRejected(decide, state);
        if (!events) return;
        state = events.reduce(source.evolve, state);
        if (typeof each !== 'object') return;
        expect(state.config).toMatchObject({ chunking: { max_tokens: each.max }, ...(each.kind && { kind: each.kind }) });
        expect(decide(state)).toEqual([]);
      });
    }),
  );
});
