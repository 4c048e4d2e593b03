import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { ReadModels } from '../../../projections/read-models.js';
import { traces } from '../../../projections/traces/traces.projection.js';
import { type OldTraces, TraceQueries } from '../../../projections/traces/traces.queries.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { LateReadModel } from '../../../test/support/late-read-model.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { projecting } from '../../../test/support/projecting.js';
import { cause } from '../../../test/support/turns.js';
import { type RunEvent, runStream } from '../../background/runs/run.events.js';
import { workflowRunStream } from '../../dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { CLOCKS_APART_MS_MAX } from '../../kernel/clocks-apart.js';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { recordedEvents } from '../../kernel/event-sourcing/codec.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { ApplyRetention } from '../../work/retention/apply-retention.ticker.js';
import { RetentionOptions } from '../../work/retention/retention-options.js';
import { RetentionRules } from '../../work/retention/retention-rule.port.js';
import { EVENTS_PER_PAGE_MAX, ExpireTraces, PAGES_PER_TICK_MAX, ROWS_PER_EVENT_MAX } from './expire-traces.js';
import { expiredTracesCodec } from './expired-traces.codec.js';
import { ExpireTracesBeforeHandler } from './expired-traces.commands.js';
import { EXPIRED_TRACES_STREAM, type TracesExpired } from './expired-traces.events.js';

const MINUTE_MS = 60_000;
const RETENTION_MS = 24 * 60 * MINUTE_MS;
const FIRST_AT = Date.parse('2026-01-01T00:00:00Z');
const minute = (number: number) => new Date(FIRST_AT + number * MINUTE_MS);
/** When the traces of all minutes before this one have expired. */
const expiryOf = (number: number) => new Date(minute(number).getTime() + RETENTION_MS + CLOCKS_APART_MS_MAX);

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: TraceQueries;
let store: InMemoryEventStore;
beforeAll(async () => {
  database = await testDatabase();
  queries = new TraceQueries(new ReadModels(database.sql));
});
afterAll(() => database.close());
beforeEach(async () => {
  model = await projecting(traces, database.sql);
  store = new InMemoryEventStore();
});

const call = { callId: '', toolId: 't', toolName: 'ntfy', actionName: 'send', name: 'send', arguments: {}, argumentsSha256: '' };

/** A run with tool calls: a row for the run and for each call. */
async function ran(runId: string, at: Date, calls = 1): Promise<void> {
  const events: RunEvent[] = [
    { type: 'RunQueued', data: { runId, ownerId: 'ann', agentId: 'a', trigger: 'webhook', input: '' } },
    ...Array.from({ length: calls }, (_, effect): RunEvent => {
      return { type: 'RunToolCallStarted', data: { runId, attempt: 1, effect, call } };
    }),
  ];
  await model.given(runStream(runId), events, { at });
}

const ruleOf = () => {
  const handler = new ExpireTracesBeforeHandler(new Streams(store, systemTiming), { now: () => new Date(0) });
  const freshness: Freshness = {
    reached: async () => {
      while (isFollowing && followed < (await recorded()).length) await follow();
      return isFollowing;
    },
  };
  return new ExpireTraces(queries, commandsOver(handler), { retentionMs: RETENTION_MS }, freshness);
};
/** A process that applies the retention. */
const process = () => {
  const database = { now: async () => new Date('2030-01-01') } as unknown as ExpiringQueries;
  const late = new LateReadModel('expiring');
  return new ApplyRetention(new RetentionRules([ruleOf()]), database, store, late, new RetentionOptions(1), systemIds);
};
const recorded = () => recordedEvents<TracesExpired>(store, EXPIRED_TRACES_STREAM, expiredTracesCodec);

let followed = 0;
/** Whether the read model follows while the retention waits for it. */
let isFollowing = false;
beforeEach(() => {
  [followed, isFollowing] = [0, false];
});
/** The read model follows the next event that the retention has recorded. */
async function follow(): Promise<void> {
  const { type, data } = (await recorded())[followed++]!;
  await model.given(EXPIRED_TRACES_STREAM, [{ type, data }]);
}
const left = async () => {
  const [row] = await database.sql<{ runs: number; spans: number }[]>`
    select (select count(*)::integer from traces.trace) as runs, (select count(*)::integer from traces.span) as spans`;
  return row!;
};
const isFound = async (runId: string) => (await queries.find('ann', { id: runId }, new Date(0), 1)).length === 1;

describe('old traces', () => {
  it('expire, with few rows for each event, and a rebuild after each event has the same rows', async () => {
    const rowsEach = 100;
    const count = (3 * ROWS_PER_EVENT_MAX) / rowsEach;
    for (let number = 0; number < count; number++) await ran(`r${number}`, minute(number), rowsEach - 1);
    await process().tick(expiryOf(count));
    expect(await recorded()).toHaveLength(3);
    for (const runs of [(2 * count) / 3, count / 3, 0]) {
      await follow();
      expect(await left()).toEqual({ runs, spans: runs * (rowsEach - 1) });
      await model.expectSameAfterRebuild();
    }
    await process().tick(expiryOf(count));
    expect(await recorded()).toHaveLength(3);
  });

  it('expire by the hour, and only when a process whose clock is behind no longer shows them', async () => {
    for (const number of [59, 60, 119, 120]) await ran(`r${number}`, minute(number));
    await process().tick(expiryOf(119));
    await follow();
    expect(await Promise.all(['r59', 'r60', 'r119', 'r120'].map(isFound))).toEqual([false, true, true, true]);
    const behind = new Date(expiryOf(119).getTime() - CLOCKS_APART_MS_MAX - RETENTION_MS);
    expect(new Date((await recorded())[0]!.data.before) <= behind).toBe(true);
    await process().tick(expiryOf(120));
    await follow();
    expect(await Promise.all(['r60', 'r119', 'r120'].map(isFound))).toEqual([false, false, true]);
    await model.expectSameAfterRebuild();
  });

  it('expire once, although two processes tick at once, before the read model has followed, and with clocks apart', async () => {
    for (let number = 0; number < 180; number++) await ran(`r${number}`, minute(number));
    await Promise.all([process().tick(expiryOf(120)), process().tick(expiryOf(120)), process().tick(expiryOf(60))]);
    await process().tick(expiryOf(60));
    const befores = (await recorded()).map(({ data }) => data.before);
    expect(befores).toEqual([...new Set(befores)].toSorted());
    expect(befores.length).toBeLessThanOrEqual(2);
    for (const _ of befores) await follow();
    expect(await left()).toEqual({ runs: 60, spans: 60 });
    await model.expectSameAfterRebuild();
  });

  it('that are added late expire with the next ones, and so do spans that have no trace', async () => {
    await ran('r0', minute(0));
    await process().tick(expiryOf(60));
    await follow();
    await ran('late', minute(1));
    const started = { workflowRunId: 'w', step: 1, nodeId: 'n', nodeType: 'agent', title: '', attempt: 1, fencingToken: 1 };
    await model.given(workflowRunStream('w'), [{ type: 'NodeStarted', data: started }], { at: minute(2) });
    await ran('r60', minute(60));
    await process().tick(expiryOf(120));
    await follow();
    expect(await left()).toEqual({ runs: 0, spans: 0 });
    await model.expectSameAfterRebuild();
  });

  it('are deleted by one event up to a limit, and what is left by the next one', async () => {
    const rowsMax = 10_000;
    await database.sql`
      insert into traces.span (scope_id, span_id, kind, name, status, started_at)
      select 'w', n, 'node', 'n', 'completed', ${minute(0)} from generate_series(1, ${rowsMax + 1}::integer) n`;
    for (const spans of [1, 0]) {
      const data = { before: minute(2 - spans).toISOString(), expiredAt: minute(3).toISOString() };
      await model.given(EXPIRED_TRACES_STREAM, [{ type: 'TracesExpired', data }]);
      expect(await left()).toEqual({ runs: 0, spans });
    }
  });

  /** Adds one row more than the events of a page expire. */
  const addTooMany = async () => {
    const rows = ROWS_PER_EVENT_MAX * EVENTS_PER_PAGE_MAX + 1;
    await database.sql`
      insert into traces.span (scope_id, span_id, kind, name, status, started_at)
      select 'w', n, 'node', 'n', 'completed', ${minute(0)}::timestamptz + n * interval '1 second' from generate_series(1, ${rows}::integer) n`;
  };

  it('are due in a limited number of batches', async () => {
    await addTooMany();
    const due = await ruleOf().due(new Date('2029-01-01'), EVENTS_PER_PAGE_MAX);
    expect(due).toHaveLength(EVENTS_PER_PAGE_MAX);
    expect(due.map(({ since }) => (since.getTime() - FIRST_AT) / 1_000)).toEqual(
      due.map((_, index) => (index + 1) * ROWS_PER_EVENT_MAX),
    );
  });

  it('that need more events than a page has expire in one tick, page by page as the read model follows', async () => {
    await addTooMany();
    isFollowing = true;
    await process().tick(new Date('2029-01-01'));
    expect(await recorded()).toHaveLength(EVENTS_PER_PAGE_MAX + 1);
  });

  it('beyond 20 pages wait for the next tick', async () => {
    const page: OldTraces[] = [{ id: 'w', since: minute(0) }];
    const traces = { batchesBefore: () => Promise.resolve(page) };
    const commands = { execute: () => Promise.resolve(1n) };
    const freshness = { reached: () => Promise.resolve(true) };
    const rule = new ExpireTraces(traces as never, commands as never, { retentionMs: 0 }, freshness);
    for (let tick = 0; tick < 2; tick++) {
      let pages = 0;
      let last: OldTraces | undefined;
      for (let due = page; due.length > 0; last = due.at(-1)) {
        due = [...(await rule.due(new Date('2029-01-01'), 1, last))];
        await rule.purge(due, cause);
        pages += due.length;
      }
      expect([pages, PAGES_PER_TICK_MAX]).toEqual([20, 20]);
    }
  });

  it('wait for the next tick while the read model does not follow', async () => {
    await addTooMany();
    await process().tick(new Date('2029-01-01'));
    expect(await recorded()).toHaveLength(EVENTS_PER_PAGE_MAX);
  });
});
