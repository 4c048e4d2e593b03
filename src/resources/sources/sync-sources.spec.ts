import { beforeEach, expect, it } from '@jest/globals';
import type { Commands } from '../../kernel/commands.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import type { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { type BeginDueSync, BeginDueSyncHandler } from './source/sync.commands.js';
import { failIngest, source } from './source/source.decider.js';
import { DEFAULT_SOURCE_CONFIG } from './source/source-config.policy.js';
import { sourceStream } from './source/source.events.js';
import { addRemoteSource } from './source/sync.decider.js';
import { SYNCS_PER_TICK_MAX, SyncSources } from './sync-sources.ticker.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';

const HOUR_MS = 60 * 60 * 1000;
const START = Date.parse('2026-03-01T08:00:00Z');
const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;

let now: Date;
let store: InMemoryEventStore;
let streams: Streams;
let broken: string | undefined;
beforeEach(() => {
  now = new Date(START);
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  broken = undefined;
});

const commands = {
  execute: async (command: BeginDueSync) => {
    if (command.sourceId === broken) throw new Error('broken');
    await new BeginDueSyncHandler(streams, { now: () => now }).execute(command);
  },
} as unknown as Commands;

/** Adds a source that is synced daily and whose first ingestion has ended. */
async function added(sourceId: string): Promise<void> {
  const remote = { kind: 'url', urls: ['https://a.example/'] } as const;
  const created = { sourceId, ownerId: 'ann', name: sourceId, config: DEFAULT_SOURCE_CONFIG, remote };
  const decide = addRemoteSource(created, `first-${sourceId}`, 'daily', now);
  await streams.transact(sourceStream(sourceId), source, decide, cause);
  await over(sourceId);
}
const state = async (sourceId: string) => (await streams.fold(sourceStream(sourceId), source)).state;
const over = async (sourceId: string) => {
  const { ingest } = await state(sourceId);
  await streams.transact(sourceStream(sourceId), source, failIngest(sourceId, ingest!.ingestId, 'x'), cause);
};
const requestsOf = async (sourceId: string) => {
  const ids: string[] = [];
  for await (const page of store.read(sourceStream(sourceId))) {
    for (const { type, data } of page) {
      if (type === 'SourceIngestRequested') ids.push((JSON.parse(data) as { ingestId: string }).ingestId);
    }
  }
  return ids.slice(1);
};

/** A read model that is always up to date. */
const listing = (ids: readonly string[]): SourceQueries =>
  ({
    dueForSync: async (until: Date, limit: number) => {
      const current = await Promise.all(ids.map(async (sourceId) => ({ sourceId, at: (await state(sourceId)).nextSyncAt })));
      return current
        .filter(({ at }) => at !== null && at <= until.toISOString())
        .slice(0, limit)
        .map(({ sourceId, at }) => ({ sourceId, nextSyncAt: new Date(at!) }));
    },
  }) as unknown as SourceQueries;
const tickAt = (hours: number, ticker: SyncSources) => ticker.tick((now = new Date(START + hours * HOUR_MS)));

it('begins one sync a day, at the time of day of the source', async () => {
  await added('s1');
  const ticker = new SyncSources(commands, listing(['s1']), systemIds);
  for (const hours of [1, 23.9, 24, 24.1, 47.9]) await tickAt(hours, ticker);
  expect(await requestsOf('s1')).toHaveLength(1);
  await over('s1');
  await tickAt(48.5, ticker);
  expect(await requestsOf('s1')).toHaveLength(2);
  expect((await state('s1')).nextSyncAt).toBe('2026-03-04T08:00:00.000Z');
});

it('begins one sync after an outage of weeks', async () => {
  await added('s1');
  const ticker = new SyncSources(commands, listing(['s1']), systemIds);
  for (let times = 0; times < 3; times++) await tickAt(24 * 20 + 1, ticker);
  expect(await requestsOf('s1')).toHaveLength(1);
  expect((await state('s1')).nextSyncAt).toBe('2026-03-22T08:00:00.000Z');
});

it('begins one sync when several processes check at once with a stale read model', async () => {
  await added('s1');
  now = new Date(START + 25 * HOUR_MS);
  const behind = {
    dueForSync: async () => [{ sourceId: 's1', nextSyncAt: new Date(START + 24 * HOUR_MS) }],
  } as unknown as SourceQueries;
  const tickers = [1, 2, 3].map(() => new SyncSources(commands, behind, systemIds));
  await Promise.all(tickers.map((ticker) => ticker.tick(now)));
  await over('s1');
  await tickers[0]!.tick(now);
  expect(await requestsOf('s1')).toHaveLength(1);
});

it('continues after a source that fails, and rethrows the failure', async () => {
  for (const id of ['s1', 's2']) await added(id);
  broken = 's1';
  await expect(tickAt(25, new SyncSources(commands, listing(['s1', 's2']), systemIds))).rejects.toThrow('broken');
  expect([await requestsOf('s1'), (await requestsOf('s2')).length]).toEqual([[], 1]);
});

/** A ticker over syncs that are always due. Those whose ids begin with `broken` cannot begin. `tried` has all ids in order. */
function ticking(ids: readonly string[]) {
  const due = ids.map((sourceId) => ({ sourceId, nextSyncAt: new Date(START) }));
  const tried: string[] = [];
  const queries = { dueForSync: async (_: Date, limit: number) => due.slice(0, limit) } as unknown as SourceQueries;
  const trying = {
    execute: async ({ sourceId }: BeginDueSync) => {
      tried.push(sourceId);
      if (sourceId.startsWith('broken')) throw new Error('broken');
    },
  } as unknown as Commands;
  return { tried, ticker: new SyncSources(trying, queries, systemIds) };
}

it('begins at most SYNCS_PER_TICK_MAX syncs in a tick', async () => {
  const { tried, ticker } = ticking(Array.from({ length: SYNCS_PER_TICK_MAX + 1 }, (_, index) => `s${index}`));
  await ticker.tick(now);
  expect(tried).toHaveLength(SYNCS_PER_TICK_MAX);
});

it('tries syncs that could not begin after all others', async () => {
  const broken = Array.from({ length: SYNCS_PER_TICK_MAX }, (_, index) => `broken-${index}`);
  const { tried, ticker } = ticking([...broken, 's1']);
  for (let ticks = 0; ticks < 2; ticks++) await expect(ticker.tick(now)).rejects.toThrow('broken');
  expect(tried.slice(SYNCS_PER_TICK_MAX)).toEqual(['s1', ...broken.slice(0, SYNCS_PER_TICK_MAX - 1)]);
});
