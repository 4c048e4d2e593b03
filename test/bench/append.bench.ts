import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import type { EventStore, ExpectedRevision, NewEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.js';
import { type Bench, type Figure, interleaved, median, ratioOf } from './report.js';

const WRITERS = 50;
const BATCH = 20;
const ROUNDS = 5;
const SECONDS = 1.5;
const WARM_UP_SECONDS = 0.3;

const metadata = JSON.stringify({
  $correlationId: randomUUID(),
  $causationId: randomUUID(),
  actor: 'user:local',
  credential: 'none',
  version: 1,
});
const data = JSON.stringify({
  conversationId: randomUUID(),
  text: 'A question of ordinary length, as people ask it.',
  chunks: 6,
});
const newEvent = (): NewEvent => ({ id: randomUUID(), type: 'TurnAsked', data, metadata });
const newEvents = (count: number): NewEvent[] => Array.from({ length: count }, newEvent);

/** Runs this many loops concurrently until the time is up. Returns the number of operations per second. */
async function rate(seconds: number, writers: number, start: () => () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  const until = from + seconds * 1000;
  let done = 0;
  const work = async () => {
    for (const once = start(); performance.now() < until; done++) await once();
  };
  await Promise.all(Array.from({ length: writers }, work));
  return (done * 1000) / (performance.now() - from);
}

const newStream = (): string => `conversation-${randomUUID()}`;

/** Each writer appends to its own stream, at the preceding revision. */
const throughStore = (store: EventStore, batch: number) => () => {
  const stream = newStream();
  let expected: ExpectedRevision = 'none';
  return async () => {
    ({ revision: expected } = await store.append(stream, expected, newEvents(batch)));
  };
};

const rows = (stream: string, from: number, count: number) =>
  newEvents(count).map((event, index) => ({ stream, revision: from + index, ...event }));

/** The same columns and constraint, with one statement per append. */
const throughInsert = (insert: (rows: readonly Row[]) => Promise<unknown>, batch: number) => () => {
  const stream = newStream();
  let next = 0;
  return () => insert(rows(stream, (next += batch) - batch, batch));
};

type Row = ReturnType<typeof rows>[number];

const inTransaction = (sql: Sql) => (events: readonly Row[]) =>
  sql.begin((inside) => inside`insert into raw_event ${inside(events)}`);
const byItself = (sql: Sql) => (events: readonly Row[]) => sql`insert into raw_event ${sql(events)}`;

const RAW_TABLE = `
  create table raw_event (
    position bigint generated always as identity primary key,
    stream text not null, revision integer not null, id uuid not null, type text not null,
    data text not null, metadata text not null, at timestamptz not null default now(),
    unique (stream, revision)
  )`;

type Case = Readonly<{ writers: number; batch: number; times?: number }>;

const CASES: readonly Case[] = [
  { writers: 1, batch: 1, times: 1 },
  { writers: WRITERS, batch: 1, times: 6 },
  { writers: 1, batch: BATCH },
  { writers: WRITERS, batch: BATCH },
];

async function measure(store: EventStore, sql: Sql, { writers, batch, times }: Case): Promise<Figure[]> {
  const starts = {
    ours: throughStore(store, batch),
    transaction: throughInsert(inTransaction(sql), batch),
    autocommit: throughInsert(byItself(sql), batch),
  };
  for (const start of Object.values(starts)) await rate(WARM_UP_SECONDS, writers, start);
  const { ours, transaction, autocommit } = await interleaved(ROUNDS, {
    ours: () => rate(SECONDS, writers, starts.ours),
    transaction: () => rate(SECONDS, writers, starts.transaction),
    autocommit: () => rate(SECONDS, writers, starts.autocommit),
  });
  const name = `${batch === 1 ? 'single events' : `batches of ${batch}`}, ${writers} writer${writers === 1 ? '' : 's'}`;
  const unit = 'appends/s';
  return [
    { name, value: median(ours), unit, baseline: { name: 'BEGIN, INSERT, COMMIT', value: median(transaction) } },
    { name, value: median(ours), unit, baseline: { name: 'INSERT, autocommit', value: median(autocommit) } },
    ...(times
      ? [
          {
            name: `${name}: times BEGIN, INSERT, COMMIT`,
            value: ratioOf(ours, transaction),
            unit: '×',
            target: { atLeast: times },
          },
        ]
      : []),
  ];
}

/**
 * The rate at which events become durable: our store compared with plain INSERTs by the same client, on as many connections as
 * there are writers.
 */
export const bench: Bench = {
  name: 'append',
  title: 'Appends, fsync on: the Postgres event store, against INSERTs on the same server',
  async run({ say }) {
    // Not in the temporary directory, which may be in memory, where fsync does nothing.
    const dataDir = mkdtempSync(join(import.meta.dirname, '../../node_modules/.bench-append-'));
    const server = await startEmbeddedPostgres({ dataDir });
    const store = new PostgresEventStore({ url: server.url });
    await store.start();
    const pools = new Map([1, WRITERS].map((max) => [max, postgres(server.url, { max, onnotice: () => undefined })]));
    await pools.get(1)!.unsafe(RAW_TABLE);
    const figures: Figure[] = [];
    for (const each of CASES) {
      say(`${each.writers} writers, ${each.batch} events at once`);
      figures.push(...(await measure(store, pools.get(each.writers)!, each)));
    }
    await store.close();
    await Promise.all([...pools.values()].map((sql) => sql.end()));
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
    return { figures };
  },
};
