import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { accounts, opened } from '../../../test/support/accounts.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { EventsForTests } from '../../../test/support/projecting.js';
import { openDatabase } from '../postgres/database.js';
import { definitionOf } from './definition.js';
import { ProjectionWriter } from './projection-writer.js';
import { createSchema } from './schema.js';
import { FencedOut, type Portion, writeTogether } from './shared-transaction.js';

const NAMES = ['accounts', 'balances', 'ledgers', 'sums'];

let database: TestDatabase;
let writers: readonly ProjectionWriter[];
let log: EventsForTests;

beforeAll(async () => {
  database = await testDatabase();
  log = new EventsForTests();
  writers = await Promise.all(NAMES.map((name) => writerOf(name)));
});
afterAll(() => database.close());

async function writerOf(name: string): Promise<ProjectionWriter> {
  const definition = await definitionOf(accounts(name));
  await createSchema(database.sql, definition, name);
  return ProjectionWriter.open(database.sql, definition);
}

/** The parts that some of the writers have in a transaction about a new account. */
function portionsFor(some: readonly ProjectionWriter[]): readonly Portion[] {
  const account = `a${log.events.length}`;
  const events = log.add(`account-${account}`, [opened(account)]);
  return some.map((writer) => writer.portion(events[0]!.position, events));
}

/** Every subset, in both orders. */
const choices = Array.from({ length: 2 ** NAMES.length }, (_, bits) =>
  NAMES.flatMap((_, index) => ((bits >> index) & 1 ? [index] : [])),
)
  .slice(1)
  .flatMap((indexes) => [indexes, indexes.toReversed()]);

it('prepares as many statements on a connection however read models are written together', async () => {
  const sql = openDatabase({ url: database.url, name: 'one connection', connections: 1 });
  const prepared = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::integer as count from pg_prepared_statements where statement like 'update %.checkpoint set%'`;
    return row!.count;
  };
  try {
    for (const indexes of choices) await writeTogether(sql, portionsFor(indexes.map((index) => writers[index]!)));
    expect(await prepared()).toBe(NAMES.length);
  } finally {
    await sql.end();
  }
});

it('writes nothing if one of the read models has another writer', async () => {
  const before = writers.map(({ position }) => position);
  await database.sql`update ledgers.checkpoint set epoch = epoch + 1`;
  await expect(writeTogether(database.sql, portionsFor(writers))).rejects.toThrow(new FencedOut('ledgers'));
  const stored = await Promise.all(
    NAMES.map((name) => database.sql<{ position: string }[]>`select position::text from ${database.sql(name)}.checkpoint`),
  );
  expect(stored.map(([row]) => BigInt(row!.position))).toEqual(before);
});
