import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import postgres from 'postgres';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { createReactionTables, ReactionTables } from './reaction-tables.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.sql`drop schema if exists reactions cascade`;
  await createReactionTables(database.sql);
});

it('the checkpoint of a reaction is saved without the disk, which the next statement of its connection waits for again', async () => {
  const connection = await database.sql.reserve();
  await connection`drop table if exists flushed`;
  await connection`create temporary table flushed (setting text)`;
  await connection.unsafe(`
    create function pg_temp.note() returns trigger language plpgsql as
      'begin insert into flushed values (current_setting(''synchronous_commit'')); return new; end';
    create trigger noting before update on reactions.reaction_checkpoint for each row execute function pg_temp.note()`);
  const table = new ReactionTables(connection).of('answer-door');
  const { epoch } = await table.takeOver(async () => -1n);
  await table.save({ position: 7n, eventAt: new Date() }, epoch);
  const settings = await connection<
    { setting: string }[]
  >`select setting from flushed union all select current_setting('synchronous_commit')`;
  connection.release();
  expect(settings.map(({ setting }) => setting)).toEqual(['on', 'off', 'on']);
});

it('a process takes reactions over together with two statements', async () => {
  const sent: string[] = [];
  const sql = postgres(database.url, { debug: (_, statement) => void sent.push(statement) });
  const names = ['first', 'second', 'third'];
  const take = (tables: ReactionTables) => Promise.all(names.map((name) => tables.of(name).takeOver(async () => 5n)));
  const taken = await take(new ReactionTables(sql));
  expect(taken.map(({ position, epoch }) => [position, epoch])).toEqual(names.map(() => [5n, 1n]));
  await database.sql`
    insert into reactions.parked (reaction, position, stream, type, error, revision)
    values ('second', 3, 'bell-a', 'Rang', 'Broken.', 0), ('second', 4, 'bell-a', 'Rang', 'Broken.', 1)`;
  sent.length = 0;
  expect(await take(new ReactionTables(sql))).toEqual(
    names.map((name) => ({ position: 5n, epoch: 2n, parkedStreams: name === 'second' ? ['bell-a'] : [] })),
  );
  expect(sent.filter((statement) => statement.includes('reactions.'))).toHaveLength(2);
  await sql.end();
});

it('checkpoints that are saved at once share a statement, which refuses only those that another process has taken over', async () => {
  const sent: string[] = [];
  const sql = postgres(database.url, { debug: (_, statement) => void sent.push(statement) });
  const names = ['first', 'second', 'third'];
  const tables = new ReactionTables(sql);
  const taken = names.map((name) => tables.of(name));
  const epochs = await Promise.all(taken.map(async (table) => (await table.takeOver(async () => 5n)).epoch));
  await new ReactionTables(database.sql).of('second').takeOver(async () => 5n);
  sent.length = 0;
  const eventAt = new Date(1_000);
  const saves = taken.map((table, place) =>
    table.save({ position: BigInt(10 + place), eventAt: place === 2 ? null : eventAt }, epochs[place]!).then(
      () => 'saved',
      (error: Error) => error.name,
    ),
  );
  expect(await Promise.all(saves)).toEqual(['saved', 'ReactionFencedOut', 'saved']);
  expect(sent.filter((statement) => statement.includes('reactions.'))).toHaveLength(1);
  const rows = await database.sql<{ position: string; eventAt: Date | null }[]>`
    select position::text, event_at as "eventAt" from reactions.reaction_checkpoint order by reaction`;
  expect(rows.map((row) => [row.position, row.eventAt])).toEqual([
    ['10', eventAt],
    ['5', null],
    ['12', null],
  ]);
  await sql.end();
});
