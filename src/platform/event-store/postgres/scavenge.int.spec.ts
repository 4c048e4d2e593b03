import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { ISql } from 'postgres';
import {
  eventsOf,
  newCategory,
  newEvents,
  newStream,
  range,
  readLog,
  revisions,
} from '../../../../test/contracts/event-store.subject.js';
import { eventually } from '../../../../test/support/eventually.js';
import { testDatabase } from '../../../../test/support/postgres-for-tests.js';
import { NEVER_MS, PostgresStores } from '../../../../test/support/postgres-stores.js';
import { categoryOf, LOG_START, type LogPage } from '../../../kernel/event-sourcing/event-store.js';
import { migrate } from '../../postgres/migrate.js';
import { PAGE_EVENTS_MAX } from './event-rows.js';
import { PostgresEventStore } from './postgres-event-store.js';
import { SCAVENGE_EVENTS_MAX } from './scavenge.js';

let postgres: PostgresStores;
beforeAll(async () => {
  postgres = await PostgresStores.started();
});
afterEach(() => postgres.closeOthers());
afterAll(() => postgres.close());

/** Makes a stream due now whose check is noted for later. */
const checkEarlier = (sql: ISql, stream: string) =>
  sql`update event_store.stream set scavenge_at = now() where name = ${stream} and scavenge_at > now()`;

it('deletes exactly the events that the bounds of a stream hide', async () => {
  const category = newCategory();
  const [counted, aged, cut, unbounded] = [newStream(category), newStream(category), newStream(category), newStream(category)];
  for (const stream of [counted, aged, cut, unbounded]) await postgres.store.append(stream, 'none', newEvents(20));
  await postgres.store.setRetention(counted, { maxCount: 3 });
  await postgres.store.setRetention(aged, { maxAgeSeconds: 1 });
  await postgres.store.setRetention(cut, { truncateBefore: 18 });
  await eventually(async () => (await eventsOf(postgres.store.read(aged))).length === 0);
  while ((await postgres.store.scavenge()).more);
  const { events } = await readLog(postgres.store, LOG_START, { categories: [category] });
  const left = (stream: string) => revisions(events.filter((event) => event.stream === stream));
  expect([left(counted), left(aged), left(cut), left(unbounded)]).toEqual([[17, 18, 19], [], [18, 19], range(0, 19)]);
  const [due] = await postgres.database.sql`select scavenge_at from event_store.stream where name = ${cut}`;
  expect(due).toEqual({ scavenge_at: null });
  expect(await postgres.store.append(aged, 19, newEvents(1))).toMatchObject({ revision: 20 });
  expect(await postgres.store.append(counted, 19, newEvents(1))).toMatchObject({ revision: 20 });
  expect(revisions(await eventsOf(postgres.store.read(counted)))).toEqual([18, 19, 20]);
});

it('deletes again when later events of the same stream have expired', async () => {
  const stream = newStream();
  await postgres.store.setRetention(stream, { maxAgeSeconds: 1 });
  for (const round of range(0, 1)) {
    await postgres.store.append(stream, round === 0 ? 'none' : 1, newEvents(2));
    await eventually(async () => {
      await postgres.store.scavenge();
      const [row] = await postgres.database.sql<{ count: number }[]>`
        select count(*)::integer as count from event_store.event e join event_store.stream s on s.number = e.stream where s.name = ${stream}`;
      return row!.count === 0;
    });
  }
  expect(await postgres.store.append(stream, 3, newEvents(1))).toMatchObject({ revision: 4 });
});

it('checks a stream with a bound of its count only after an append, and in time for its bound of age', async () => {
  const [counted, both] = [newStream(), newStream()];
  const dueIn = async (stream: string) => {
    const [row] = await postgres.database.sql<{ seconds: number | null }[]>`
      select extract(epoch from scavenge_at - now())::integer as seconds from event_store.stream where name = ${stream}`;
    return row!.seconds;
  };
  const isAfter = async (stream: string, seconds: number) => {
    const due = await dueIn(stream);
    expect(due).toBeGreaterThan(seconds - 60);
    expect(due).toBeLessThanOrEqual(seconds);
  };
  for (const stream of [counted, both]) await postgres.store.append(stream, 'none', newEvents(5));
  await postgres.store.setRetention(counted, { maxCount: 3 });
  await postgres.store.setRetention(both, { maxCount: 3, maxAgeSeconds: 86_400 });
  while ((await postgres.store.scavenge()).more);
  expect(await dueIn(counted)).toBeNull();
  await isAfter(both, 86_400);
  for (const stream of [counted, both]) {
    await postgres.store.append(stream, 4, newEvents(1));
    await isAfter(stream, 3_600);
  }
});

it('deletes again after an append to a stream with a bound of its count whose last check found nothing to delete', async () => {
  const stream = newStream();
  await postgres.store.append(stream, 'none', newEvents(3));
  await postgres.store.setRetention(stream, { maxCount: 3 });
  while ((await postgres.store.scavenge()).more);
  const [checked] = await postgres.database.sql`select scavenge_at from event_store.stream where name = ${stream}`;
  expect(checked).toEqual({ scavenge_at: null });
  await postgres.store.append(stream, 2, newEvents(2));
  await checkEarlier(postgres.database.sql, stream);
  while ((await postgres.store.scavenge()).more);
  expect(revisions((await readLog(postgres.store, LOG_START, { categories: [categoryOf(stream)] })).events)).toEqual([2, 3, 4]);
});

it('deletes many events in several short transactions', async () => {
  const stream = newStream();
  await postgres.store.append(stream, 'none', newEvents(SCAVENGE_EVENTS_MAX + 500));
  await postgres.store.setRetention(stream, { maxCount: 1 });
  const left = async () => (await readLog(postgres.store, LOG_START, { categories: [categoryOf(stream)] })).events.length;
  // Events of other tests may have expired too, so that more are deleted.
  const first = await postgres.store.scavenge();
  expect(first.deleted).toBeGreaterThanOrEqual(SCAVENGE_EVENTS_MAX);
  expect([first.more, await left()]).toEqual([true, 500]);
  const rest = await postgres.store.scavenge();
  expect(rest.deleted).toBeGreaterThanOrEqual(499);
  expect([rest.more, await left()]).toEqual([false, 1]);
});

it.each<[string, number, (sql: ISql, stream: string) => Promise<unknown>]>([
  [
    'another process deletes a part of them at the same time',
    SCAVENGE_EVENTS_MAX + 500,
    (sql, stream) =>
      sql`select event_store.scavenge(number, ${SCAVENGE_EVENTS_MAX}) from event_store.stream where name = ${stream}`,
  ],
  [
    'the stream is truncated further at the same time',
    9,
    (sql, stream) => sql`
      update event_store.stream set truncate_before = ${SCAVENGE_EVENTS_MAX + 500}, scavenge_at = now() where name = ${stream}`,
  ],
])('deletes all truncated events where %s', async (_, cut, meanwhile) => {
  const stream = newStream();
  await postgres.store.append(stream, 'none', newEvents(SCAVENGE_EVENTS_MAX + 500));
  await postgres.store.setRetention(stream, { truncateBefore: cut });
  let scavenging: Promise<unknown> = Promise.resolve();
  await postgres.database.sql.begin(async (sql) => {
    await meanwhile(sql, stream);
    scavenging = postgres.store.scavenge();
    await eventually(async () => (await postgres.waitingForLock('event_store.scavenge')) === 1);
  });
  await scavenging;
  for (let more = true; more;) ({ more } = await postgres.store.scavenge());
  expect((await readLog(postgres.store, LOG_START, { categories: [categoryOf(stream)] })).events).toHaveLength(0);
});

it('may exceed the deadline of one read when it deletes from many streams', async () => {
  const streams = range(1, 6).map(() => newStream());
  for (const stream of streams) {
    await postgres.store.append(stream, 'none', newEvents(1));
    await postgres.store.setRetention(stream, { truncateBefore: 1 });
  }
  await postgres.database.sql.unsafe(`
    create function test_delay() returns trigger language plpgsql as $$ begin perform pg_sleep(0.4); return null; end $$;
    create trigger test_delay before delete on event_store.event for each statement execute function test_delay()`);
  const hurried = new PostgresEventStore({ url: postgres.database.url, scavengeMs: NEVER_MS, deadlineMs: 2_000 });
  postgres.others.push(hurried);
  try {
    await hurried.scavenge();
    for (const stream of streams)
      expect((await readLog(postgres.store, LOG_START, { categories: [categoryOf(stream)] })).events).toHaveLength(0);
  } finally {
    await postgres.database.sql`drop function test_delay() cascade`;
  }
});

it('deletes from the other streams if the events of one cannot be deleted, and tries that one again later', async () => {
  const [corrupt, sound] = [newStream(), newStream()];
  for (const stream of [corrupt, sound]) {
    await postgres.store.append(stream, 'none', newEvents(1));
    await postgres.store.setRetention(stream, { truncateBefore: 1 });
  }
  const [row] = await postgres.database.sql<{ number: string }[]>`
    select number from event_store.stream where name = ${corrupt}`;
  await postgres.database.sql.unsafe(`
    create function test_fault() returns trigger language plpgsql as $$ begin raise exception 'invalid page'; end $$;
    create trigger test_fault before delete on event_store.event for each row when (old.stream = ${row!.number})
      execute function test_fault()`);
  const left = async (stream: string) =>
    (await readLog(postgres.store, LOG_START, { categories: [categoryOf(stream)] })).events.length;
  try {
    await expect(postgres.store.scavenge()).rejects.toThrow('invalid page');
    expect([await left(corrupt), await left(sound)]).toEqual([1, 0]);
    expect(await postgres.store.scavenge()).toEqual({ deleted: 0, more: false });
  } finally {
    await postgres.database.sql`drop function test_fault() cascade`;
  }
  await checkEarlier(postgres.database.sql, corrupt);
  expect(await postgres.store.scavenge()).toEqual({ deleted: 1, more: false });
});

it('deletes periodically', async () => {
  const stream = newStream();
  await postgres.store.append(stream, 'none', newEvents(SCAVENGE_EVENTS_MAX + 500));
  const after = await postgres.store.head();
  const deleting = new PostgresEventStore({ url: postgres.database.url, scavengeMs: 20 });
  postgres.others.push(deleting);
  await deleting.start();
  await postgres.store.setRetention(stream, { maxCount: 2 });
  const { position } = await postgres.store.append(stream, SCAVENGE_EVENTS_MAX + 499, newEvents(1));
  expect(position).toBeGreaterThan(after);
  // If the stream was checked just before the append, it is due in an hour only.
  await checkEarlier(postgres.database.sql, stream);
  await eventually(async () => {
    const { events } = await readLog(postgres.store, LOG_START, { categories: [categoryOf(stream)] });
    return events.length === 2;
  });
});

it('never assigns a position twice, also when the newest events were deleted', async () => {
  const stream = newStream();
  const { position } = await postgres.store.append(stream, 'none', newEvents(5));
  await postgres.store.setRetention(stream, { maxAgeSeconds: 1 });
  await eventually(async () => (await eventsOf(postgres.store.read(stream))).length === 0);
  await postgres.store.scavenge();
  expect((await postgres.store.append(newStream(), 'none', newEvents(1))).position).toBeGreaterThan(position);
});

it('lets a reader of the log end when it deletes the newest events before the reader is there', async () => {
  const category = newCategory();
  const newest = newStream(category);
  await postgres.store.append(newStream(category), 'none', newEvents(PAGE_EVENTS_MAX));
  await postgres.store.append(newest, 'none', newEvents(5));
  const pages: LogPage[] = [];
  for await (const page of postgres.store.readAll({ after: LOG_START, filter: { categories: [category] } })) {
    if (pages.push(page) === 50) break;
    if (pages.length > 1) continue;
    await postgres.store.setRetention(newest, { maxAgeSeconds: 1 });
    await eventually(async () => (await eventsOf(postgres.store.read(newest))).length === 0);
    while ((await postgres.store.scavenge()).more);
  }
  expect(pages.map(({ events, caughtUp }) => [events.length, caughtUp])).toEqual([
    [PAGE_EVENTS_MAX, false],
    [0, true],
  ]);
});

it('deletes events of truncated streams that an earlier version has left', async () => {
  const { url, sql, close } = await testDatabase();
  const [before, after] = range(1, 2).map(() => new PostgresEventStore({ url, scavengeMs: NEVER_MS }));
  await before!.start();
  const stream = newStream();
  await before!.append(stream, 'none', newEvents(3));
  await sql`update event_store.stream set truncate_before = 2`;
  await sql`delete from event_store.migration where version >= 4`;
  await after!.start();
  expect(await after!.scavenge()).toEqual({ deleted: 2, more: false });
  await Promise.all([before!.close(), after!.close()]);
  await close();
});

it('checks streams with a bound of their count that an earlier version has left once more, and then only after an append', async () => {
  const { url, sql, close } = await testDatabase();
  const version4 = ['event-store', 'truncated-streams', 'bounded-appends', 'unfinished-scavenges'];
  const steps = version4.map((step) => readFileSync(new URL(`./${step}.sql`, import.meta.url), 'utf8'));
  await migrate(sql, 'event_store', steps);
  const store = new PostgresEventStore({ url, scavengeMs: NEVER_MS });
  const stream = newStream();
  await store.append(stream, 'none', newEvents(5));
  await store.setRetention(stream, { maxCount: 3 });
  expect(await store.scavenge()).toEqual({ deleted: 2, more: false });
  await store.start();
  const due = async () =>
    (await sql<{ isDue: boolean }[]>`select scavenge_at is not null as "isDue" from event_store.stream`)[0]!.isDue;
  expect(await due()).toBe(true);
  await checkEarlier(sql, stream);
  expect(await store.scavenge()).toEqual({ deleted: 0, more: false });
  expect(await due()).toBe(false);
  await store.append(stream, 4, newEvents(2));
  await checkEarlier(sql, stream);
  expect(await store.scavenge()).toEqual({ deleted: 2, more: false });
  expect(revisions((await readLog(store, LOG_START, { categories: [categoryOf(stream)] })).events)).toEqual([4, 5, 6]);
  await store.close();
  await close();
});
