import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  allOf,
  eventsOf,
  Following,
  ids,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  range,
  readLog,
  revisions,
} from '../../../../test/contracts/event-store.subject.js';
import { eventually } from '../../../../test/support/eventually.js';
import { testDatabase } from '../../../../test/support/postgres-for-tests.js';
import { PostgresStores } from '../../../../test/support/postgres-stores.js';
import { LogEndsEarlier, type NewEvent } from '../../../kernel/event-sourcing/event-store.js';
import { SchemaFromTheFuture } from '../../postgres/migrate.js';
import { PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './event-rows.js';
import { PostgresEventStore } from './postgres-event-store.js';
import { STREAM_NAME_BYTES_MAX } from './storable.js';

let postgres: PostgresStores;
beforeAll(async () => {
  postgres = await PostgresStores.started();
});
afterEach(() => postgres.closeOthers());
afterAll(() => postgres.close());

const indexScans = async (): Promise<Record<string, number>> => {
  const rows = await postgres.database.sql<{ name: string; scans: number }[]>`
    select indexrelname as name, idx_scan::integer as scans from pg_stat_user_indexes where schemaname = 'event_store'`;
  return Object.fromEntries(rows.map(({ name, scans }) => [name, scans]));
};

it('shows a reader nothing before a truncation that is ahead of the end of the stream', async () => {
  const stream = newStream();
  await postgres.store.setRetention(stream, { truncateBefore: 3 });
  await postgres.store.append(stream, 'none', newEvents(2));
  await postgres.store.append(stream, 1, newEvents(3));
  expect(revisions(await eventsOf(postgres.store.read(stream)))).toEqual([3, 4]);
});

it('leaves out events of types on which a reader does not act, in a page that ends at the same position', async () => {
  const category = newCategory();
  const after = await postgres.store.end();
  const others = newEvents(2 * PAGE_EVENTS_MAX);
  const { position } = await postgres.store.append(newStream(category), 'none', [...others, newEvent({ type: 'Wanted' })]);
  const pages = await allOf(postgres.store.readAll({ after, filter: { categories: [category], types: ['Wanted'] } }));
  expect(pages.map(({ events, position: end }) => [events.map(({ type }) => type), end])).toEqual([[['Wanted'], position]]);
});

it('fails a follower whose position is past the end of a log that was restored from a backup', async () => {
  await postgres.store.append(newStream(), 'none', newEvents(2));
  const { sql } = postgres.database;
  const [before] = await sql<{ last_value: string }[]>`select last_value from event_store.position`;
  const following = new Following(postgres.store, (await postgres.store.end()) + 1n);
  await expect(following.until(() => false, 'its end')).rejects.toBeInstanceOf(LogEndsEarlier);
  expect(await postgres.store.end()).toBe(BigInt(before!.last_value));
});

it('lets a follower go on whose position is that of a deleted event', async () => {
  const [bounded, other] = [newStream(), newStream()];
  await postgres.store.append(bounded, 'none', newEvents(2));
  const after = await postgres.store.head();
  await postgres.store.setRetention(bounded, { truncateBefore: 2 });
  await eventually(async () => (await postgres.store.scavenge(), (await postgres.store.head()) < after));
  expect(await postgres.store.end()).toBe(after);
  const following = new Following(postgres.store, after);
  await postgres.store.append(other, 'none', newEvents(1));
  await following.count(1);
  expect((await following.stop()).events).toMatchObject([{ stream: other }]);
});

it('shows no event while an append with an earlier position may still commit', async () => {
  const [early, late] = [newStream(), newStream()];
  const after = await postgres.store.head();
  let position = '';
  let second: Promise<unknown> = Promise.resolve();
  await postgres.database.sql.begin(async (sql) => {
    position = (await postgres.appendStatement(early, 0, newEvent(), sql))[0]!.position;
    second = postgres.store.append(late, 'none', newEvents(1));
    await eventually(async () => (await postgres.waitingForLock()) === 1);
    expect(await readLog(postgres.store, after)).toMatchObject({ events: [], pages: [{ position: after, caughtUp: true }] });
  });
  const answer = await second;
  const { events } = await readLog(postgres.store, after);
  expect(events.map(({ stream }) => stream)).toEqual([early, late]);
  expect(events.map((event) => event.position)).toEqual([BigInt(position), (answer as { position: bigint }).position]);
});

it('distinguishes streams with unusual names, also in concurrent reads', async () => {
  const odd = ['a"b', 'a\\\\"b', 'a\nb', 'a\tb\u0001', '\u007f', 'a,b', 'a}{b', "a'b", 'a b ', 'é\u00a0', 'NULL', 'null'].map(
    (name) => `${newStream()}${name}`,
  );
  const unstorable = ['a\u001fb', 'a\0b', '\ud800'].map((name) => `${newStream()}${name}`);
  const written = newEvents(odd.length);
  for (const [at, stream] of odd.entries()) await postgres.store.append(stream, 'none', [written[at]!]);
  const read = [...odd, ...unstorable].map(async (stream) => [
    await allOf(postgres.store.readTexts(stream)),
    await eventsOf(postgres.store.read(stream)),
  ]);
  expect(await Promise.all(read)).toEqual([
    ...written.map((event, at) => [
      [{ first: 0, texts: [event.data], metadata: event.metadata }],
      [expect.objectContaining({ id: event.id, stream: odd[at] })],
    ]),
    ...unstorable.map(() => [[], []]),
  ]);
});

it('skips no event for readers and writers in several processes', async () => {
  const category = newCategory();
  const after = await postgres.store.head();
  const processes = [postgres.store, ...(await Promise.all(range(1, 3).map(() => postgres.openAnother())))];
  const followers = processes.map((process) => new Following(process, after, { categories: [category] }));
  // The simplest reader polls for the events after the last position it saw.
  const polled: string[] = [];
  let last = after;
  let polling = true;
  const poll = async () => {
    while (polling) {
      const rows = await postgres.database.sql<{ position: string; id: string }[]>`
        select position, id from event_store.event where position > ${last.toString()} and category = ${category} order by position`;
      for (const { position, id } of rows) {
        polled.push(id);
        last = BigInt(position);
      }
    }
  };
  const poller = poll();
  const written = await Promise.all(
    range(0, 39).map(async (writer) => {
      const stream = newStream(category);
      const events = newEvents(25);
      for (const [index, event] of events.entries()) {
        await processes[writer % processes.length]!.append(stream, index === 0 ? 'none' : index - 1, [event]);
      }
      return ids(events);
    }),
  );
  const total = written.flat();
  await eventually(() => polled.length >= total.length);
  polling = false;
  await poller;
  const inOrder = ids((await readLog(postgres.store, after, { categories: [category] })).events);
  expect(new Set(inOrder)).toEqual(new Set(total));
  expect(polled).toEqual(inOrder);
  for (const follower of followers) {
    await follower.count(total.length);
    expect(ids((await follower.stop()).events)).toEqual(inOrder);
  }
});

it('lets one of several processes win each revision and gives the others the actual revision', async () => {
  const processes = [postgres.store, ...(await Promise.all(range(1, 3).map(() => postgres.openAnother())))];
  const stream = newStream();
  for (const revision of range(0, 19)) {
    const results = await Promise.allSettled(
      processes.map((process) => process.append(stream, revision === 0 ? 'none' : revision - 1, newEvents(1))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ actual: revision });
  }
  expect(revisions(await eventsOf(postgres.store.read(stream)))).toEqual(range(0, 19));
});

it('commits concurrent appends in few transactions', async () => {
  const category = newCategory();
  await Promise.all(range(1, 200).map(() => postgres.store.append(newStream(category), 'none', newEvents(1))));
  const [row] = await postgres.database.sql<{ transactions: number }[]>`
    select count(distinct xmin::text)::integer as transactions from event_store.event where category = ${category}`;
  expect(row!.transactions).toBeLessThan(10);
});

it('does not fail an append because the server refuses another in the same batch', async () => {
  await postgres.database.sql`alter table event_store.event add constraint test_refusal check (type <> 'Refused')`;
  try {
    const [good, bad, alsoGood] = [newStream(), newStream(), newStream()];
    const results = await Promise.allSettled([
      postgres.store.append(good, 'none', newEvents(2)),
      postgres.store.append(bad, 'none', [newEvent({ type: 'Refused' })]),
      postgres.store.append(alsoGood, 'none', newEvents(1)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await eventsOf(postgres.store.read(good))).toHaveLength(2);
    expect(await eventsOf(postgres.store.read(bad))).toEqual([]);
    expect(await postgres.store.append(bad, 'none', newEvents(1))).toMatchObject({ revision: 0 });
  } finally {
    await postgres.database.sql`alter table event_store.event drop constraint test_refusal`;
  }
});

it.each([
  ['an id that is not a UUID', newStream(), newEvent({ id: 'one' })],
  ['a raw NUL', newStream(), newEvent({ data: '"\0"' })],
  ['a raw unit separator', newStream(), newEvent({ metadata: '"\u001f"' })],
  ['a lone surrogate', newStream(), newEvent({ data: '"\ud800"' })],
  ['no data', newStream(), newEvent({ data: '' })],
  ['a name that is too long', 'x'.repeat(STREAM_NAME_BYTES_MAX + 1), newEvent()],
  ['no name', '', newEvent()],
])('refuses %s before it reaches the database', async (_, stream, event) => {
  await expect(postgres.store.append(stream, 'none', [event])).rejects.toThrow(
    /TypeError|RangeError|control|surrogate|UUID|empty|long/,
  );
});

it('accepts a stream with the longest name', async () => {
  const stream = newStream().padEnd(STREAM_NAME_BYTES_MAX, 'x');
  expect(await postgres.store.append(stream, 'none', newEvents(1))).toMatchObject({ revision: 0 });
});

it.each(['update event_store.event set data = data', 'delete from event_store.event', 'truncate event_store.event'])(
  'refuses to %s',
  async (statement) => {
    await postgres.store.append(newStream(), 'none', newEvents(1));
    await expect(postgres.database.sql.unsafe(statement)).rejects.toThrow('Events are never changed');
  },
);

it('refuses an append in a transaction that cannot see concurrent commits', async () => {
  await expect(
    postgres.database.sql.begin('isolation level repeatable read', (sql) =>
      postgres.appendStatement(newStream(), 0, newEvent(), sql),
    ),
  ).rejects.toThrow('must see what was committed');
});

it('bounds pages by bytes', async () => {
  const category = newCategory();
  const stream = newStream(category);
  const after = await postgres.store.head();
  const data = JSON.stringify('x'.repeat(300_000));
  for (const revision of range(0, 9))
    await postgres.store.append(stream, revision === 0 ? 'none' : revision - 1, [newEvent({ data })]);
  const sizes = (events: readonly NewEvent[]) => events.reduce((sum, event) => sum + event.data.length, 0);
  for (const direction of ['forwards', 'backwards'] as const) {
    const pages: NewEvent[][] = [];
    for await (const page of postgres.store.read(stream, { direction })) pages.push([...page]);
    for (const page of pages) expect(sizes(page) - data.length).toBeLessThan(PAGE_BYTES_MAX);
    expect(pages.flat()).toHaveLength(10);
  }
  const { pages, events } = await readLog(postgres.store, after, { categories: [category] });
  for (const page of pages) expect(sizes(page.events) - data.length).toBeLessThan(PAGE_BYTES_MAX);
  expect(revisions(events)).toEqual(range(0, 9));
});

it('reads the log up to its head at the first page while events are appended', async () => {
  const stream = newStream();
  const after = await postgres.store.head();
  const { revision } = await postgres.store.append(stream, 'none', newEvents(1200));
  let last = revision;
  let pages = 0;
  for await (const page of postgres.store.readAll({ after })) {
    pages += 1;
    ({ revision: last } = await postgres.store.append(stream, last, newEvents(1200)));
    if (page.caughtUp) break;
    expect(pages).toBeLessThan(5);
  }
  expect(pages).toBe(3);
});

it('skips frames with the index that excludes them', async () => {
  const after = await postgres.store.head();
  for (const _ of range(1, 5)) await postgres.store.append(newStream('message'), 'none', newEvents(1000));
  const { position } = await postgres.store.append(newStream('conversation'), 'none', newEvents(1));
  await postgres.database.sql`analyze event_store.event`;
  const before = await indexScans();
  const reading = await postgres.openAnother();
  for (const filter of [{ exceptCategories: ['message'] }, { categories: ['conversation', 'agent'] }]) {
    const { events, pages } = await readLog(reading, after, filter);
    expect(events).toHaveLength(1);
    expect(pages.at(-1)).toMatchObject({ position, caughtUp: true });
  }
  // A connection may report its statistics only when it ends.
  await reading.close();
  await eventually(async () => (await indexScans()).event_but_frames! >= before.event_but_frames! + 2);
});

it('creates its tables once for concurrent processes and refuses those of a newer version', async () => {
  const empty = await testDatabase();
  const stores = range(1, 5).map(() => new PostgresEventStore({ url: empty.url }));
  await Promise.all(stores.map((each) => each.start()));
  expect(await stores[0]!.append(newStream(), 'none', newEvents(1))).toMatchObject({ revision: 0, position: 0n });
  await empty.sql`insert into event_store.migration (version) values (1000)`;
  const old = new PostgresEventStore({ url: empty.url });
  await expect(old.start()).rejects.toThrow(SchemaFromTheFuture);
  await Promise.all([...stores, old].map((each) => each.close()));
  await empty.close();
});

it('ends its followers and finishes its appends when it is closed', async () => {
  const closing = await postgres.openAnother();
  const idle = new Following(closing, await postgres.store.head(), { categories: [newCategory()] });
  const following = new Following(closing, await postgres.store.head());
  const appends = range(1, 20).map(() => closing.append(newStream(), 'none', newEvents(1)));
  await following.until(({ pages }) => pages.length > 0, 'a page');
  await closing.close();
  expect(await Promise.all(appends)).toHaveLength(20);
  await expect(closing.append(newStream(), 'none', newEvents(1))).rejects.toThrow('closed');
  await Promise.all([idle.stop(), following.stop()]);
});

it('reads the texts around events in the middle of a stream that have expired early, because a clock was set back', async () => {
  const stream = newStream();
  const events = newEvents(PAGE_EVENTS_MAX + 10);
  await postgres.store.append(stream, 'none', events);
  await postgres.store.setRetention(stream, { maxAgeSeconds: 3_600 });
  await postgres.database.sql.begin(async (sql) => {
    // Disables the trigger that prevents changes of events.
    await sql`set local session_replication_role = replica`;
    await sql`
      update event_store.event e set at = now() - interval '2 hours' from event_store.stream s
      where s.number = e.stream and s.name = ${stream} and e.revision in (3, 4, ${PAGE_EVENTS_MAX + 5})`;
  });
  const kept = range(0, PAGE_EVENTS_MAX + 9).filter((revision) => ![3, 4, PAGE_EVENTS_MAX + 5].includes(revision));
  const read: [number, string][] = [];
  for await (const { first, texts } of postgres.store.readTexts(stream)) {
    read.push(...texts.map((text, index): [number, string] => [first + index, text]));
  }
  expect(read).toEqual(kept.map((revision) => [revision, events[revision]!.data]));
});
