import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { PostgresLine } from '../../../test/support/postgres-for-tests.line.js';
import { testDatabase, type TestDatabase } from '../../../test/support/postgres-for-tests.js';
import { isConnectionError, openDatabase } from './database.js';
import { WatchedDatabase } from './watched-database.js';

/** Longer than the pauses of a busy machine. */
const SILENCE_MS = 2_000;

let database: TestDatabase;
let line: PostgresLine;
let watched: WatchedDatabase;

beforeEach(async () => {
  database = await testDatabase();
  line = await PostgresLine.to(database.url);
  const open = (connections: number) => () => openDatabase({ url: line.url, name: 'watched', connections });
  watched = new WatchedDatabase({ open: open(3), probe: open(1), probeEveryMs: 50, silenceMsMax: SILENCE_MS });
});
afterEach(async () => {
  await watched.close(0);
  await line.close();
  await database.close();
});

it('supports queries, fragments, transactions and values', async () => {
  const { sql } = watched;
  await sql`create table thing (id integer primary key, name text, more json)`;
  await sql`insert into thing ${sql([{ id: 1, name: 'one', more: sql.json({ a: 1 }) }])}`;
  await sql.begin(async (transaction) => transaction`update thing set name = 'two' where ${sql`id = 1`}`);
  expect(await sql`select name, more from ${sql('thing')} where id = any(${[1]})`).toMatchObject([
    { name: 'two', more: { a: 1 } },
  ]);
  await expect(sql`select 1/0`).rejects.toMatchObject({ code: '22012' });
});

it('fails all waiting queries when the server freezes, and works again afterwards', async () => {
  const { sql } = watched;
  await sql`select 1`;
  line.freeze();
  const waiting = [
    ...Array.from({ length: 10 }, () => Promise.resolve(sql`select 1`)),
    sql.begin((transaction) => transaction`select 1`),
  ];
  const told = await Promise.all(
    waiting.map((query) =>
      query.then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  );
  expect(told.map(isConnectionError)).toEqual(told.map(() => true));
  line.cut();
  line.mend();
  expect(await sql`select 7 as seven`).toMatchObject([{ seven: 7 }]);
});

it('does not interrupt long queries of a live server', async () => {
  const busy = Array.from({ length: 3 }, () => Promise.resolve(watched.sql`select pg_sleep(${(3 * SILENCE_MS) / 1000})`));
  const queued = Promise.resolve(watched.sql`select 1`);
  expect(await Promise.all([...busy, queued])).toHaveLength(4);
});
