import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  eventsOf,
  Following,
  ids,
  newCategory,
  newEvents,
  newStream,
  range,
  readLog,
  revisions,
} from '../../../../test/contracts/event-store.subject.js';
import { PostgresLine } from '../../../../test/support/postgres-for-tests.line.js';
import { type TestDatabase, testDatabase } from '../../../../test/support/postgres-for-tests.js';
import { type EventStore, StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { eventually } from '../../../../test/support/eventually.js';
import { appendSurely } from '../../../../test/support/append-surely.js';
import { PostgresEventStore } from './postgres-event-store.js';

const OUTAGE_MS = 10_000;
const PATIENCE_MS = 2 * OUTAGE_MS;
/** Short enough for a test to wait for it. */
const DEADLINE_MS = 3_000;
/** Minimum number of connections that are killed while writers run. */
const KILLED_MIN = 50;

let database: TestDatabase;
let line: PostgresLine;
let store: PostgresEventStore;
/** Another process, whose connection to the database is never disturbed. */
let witness: PostgresEventStore;

beforeAll(async () => {
  database = await testDatabase();
  witness = new PostgresEventStore({ url: database.url, deadlineMs: PATIENCE_MS });
  await witness.start();
});

beforeEach(async () => {
  line = await PostgresLine.to(database.url);
  store = new PostgresEventStore({ url: line.url, deadlineMs: DEADLINE_MS });
  await store.start();
});

afterEach(async () => {
  line.mend();
  await store.close();
  await line.close();
});

afterAll(async () => {
  await witness.close();
  await database.close();
});

/** Writers that append one event after another until `stop`, which returns the ids of the acknowledged events. */
function startWriters(store: EventStore, streams: readonly string[]) {
  let stopped = false;
  const acknowledged = streams.map(() => [] as string[]);
  const running = streams.map(async (stream, index) => {
    for (let revision = 0; !stopped; revision++) {
      const [event] = newEvents(1);
      const appended = await appendSurely(store, stream, revision === 0 ? 'none' : revision - 1, [event!], PATIENCE_MS);
      expect(appended.revision).toBe(revision);
      acknowledged[index]!.push(event!.id);
    }
  });
  const stop = async () => {
    stopped = true;
    await Promise.all(running);
    return acknowledged;
  };
  return { acknowledged, stop };
}

/** Connects and prepares the statement before replies are lost. */
const warmUp = () => appendSurely(store, newStream(), 'none', newEvents(1), PATIENCE_MS);

it('writes each append once while its connections are killed repeatedly', async () => {
  const category = newCategory();
  const streams = range(1, 20).map(() => newStream(category));
  const after = await witness.head();
  const following = new Following(store, after, { categories: [category] });
  const writers = startWriters(store, streams);
  const written = () => writers.acknowledged.flat().length;
  let killed = 0;
  for (; killed < KILLED_MIN; await sleep(15 * Math.random())) {
    const before = written();
    const rows = await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'event store, appending'`;
    killed += rows.length;
    // On a busy machine the first append of a connection takes so long that it would never survive.
    if (Math.random() < 0.7) await eventually(() => written() > before);
  }
  const acknowledged = await writers.stop();
  for (const [index, stream] of streams.entries()) {
    expect(ids(await eventsOf(witness.read(stream)))).toEqual(acknowledged[index]);
  }
  const log = ids((await readLog(witness, after, { categories: [category] })).events);
  await following.count(log.length);
  expect(ids((await following.stop()).events)).toEqual(log);
});

it('returns the original result for a repeated append whose reply was lost', async () => {
  const stream = newStream();
  await warmUp();
  line.loseAnswers();
  const batch = newEvents(3);
  const appending = appendSurely(store, stream, 'none', batch, PATIENCE_MS);
  await eventually(async () => (await witness.lastRevision(stream)) === 2);
  line.mend();
  const { position } = (await eventsOf(witness.read(stream))).at(-1)!;
  expect(await appending).toEqual({ revision: 2, position });
  expect(await eventsOf(witness.read(stream))).toHaveLength(3);
});

it('fails with an unknown outcome at the deadline and accepts the same append again without a duplicate', async () => {
  const [written, unwritten] = [newStream(), newStream()];
  const batches = [newEvents(1), newEvents(1)];
  await warmUp();
  line.loseAnswers();
  const first = store.append(written, 'none', batches[0]!);
  await eventually(async () => (await witness.lastRevision(written)) === 0);
  line.freeze();
  const second = store.append(unwritten, 'none', batches[1]!);
  await Promise.all([first, second].map((append) => expect(append).rejects.toBeInstanceOf(StoreUnavailable)));
  line.cut();
  line.mend();
  expect(await appendSurely(store, written, 'none', batches[0]!)).toMatchObject({ revision: 0 });
  expect(await appendSurely(store, unwritten, 'none', batches[1]!)).toMatchObject({ revision: 0 });
  for (const stream of [written, unwritten]) expect(await eventsOf(witness.read(stream))).toHaveLength(1);
});

it.each(['cut', 'freeze'] as const)('fails reads at the deadline: %s', async (fault) => {
  const stream = newStream();
  await appendSurely(store, stream, 'none', newEvents(1), PATIENCE_MS);
  line[fault]();
  await Promise.all([
    expect(eventsOf(store.read(stream))).rejects.toBeInstanceOf(StoreUnavailable),
    expect(store.head()).rejects.toBeInstanceOf(StoreUnavailable),
    expect(readLog(store)).rejects.toBeInstanceOf(StoreUnavailable),
  ]);
  line.cut();
  line.mend();
  expect(await eventsOf(store.read(stream))).toHaveLength(1);
});

it('ends a follower that is aborted while the database is unreachable', async () => {
  line.cut();
  const following = new Following(store, -1n);
  await sleep(200);
  await following.stop();
});

it.each(['cut', 'freeze'] as const)(
  'continues where it was after the database was unreachable for ten seconds: %s',
  async (fault) => {
    const category = newCategory();
    const streams = range(1, 10).map(() => newStream(category));
    const after = await witness.head();
    const filter = { categories: [category] };
    const following = new Following(store, after, filter);
    const writers = startWriters(store, streams);
    await following.count(100);

    line[fault]();
    const elsewhere = newStream(category);
    await sleep(OUTAGE_MS / 2);
    await witness.append(elsewhere, 'none', newEvents(1));
    await sleep(OUTAGE_MS / 2);
    line.mend();

    const before = following.events.length;
    await following.count(before + 100);
    const acknowledged = await writers.stop();
    const written = (await readLog(witness, after, filter)).events;
    await following.count(written.length);
    expect(ids((await following.stop()).events)).toEqual(ids(written));
    for (const [index, stream] of streams.entries())
      expect(ids(following.events.filter((event) => event.stream === stream))).toEqual(acknowledged[index]);
    expect(revisions(await eventsOf(store.read(elsewhere)))).toEqual([0]);
  },
);

it('receives notifications of other processes again after its listening connection was lost', async () => {
  const listening = new PostgresEventStore({ url: line.url, pollMs: 3_600_000 });
  await listening.start();
  const category = newCategory();
  const stream = newStream(category);
  const following = new Following(listening, await witness.head(), { categories: [category] });
  await witness.append(stream, 'none', newEvents(1));
  await following.count(1);
  line.cut();
  await witness.append(stream, 0, newEvents(1));
  await sleep(200);
  line.mend();
  await following.count(2);
  await witness.append(stream, 1, newEvents(1));
  await following.count(3);
  await following.stop();
  await listening.close();
});
