import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { accounts, append, moved, opened } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { systemTiming } from '../system-timing.js';
import { definitionOf } from './definition.js';
import { heldStill } from './rebuild-comparison.js';
import { parkedIn, retryParked } from './parking.js';
import { PostgresFreshness } from './postgres-freshness.js';
import { Progress } from './progress.js';
import { Projector } from './projector.js';
import { dropSchema, readCheckpoint, takeOver } from './schema.js';

const NAMES = ['accounts', 'balances', 'ledgers'];
/** Tables that refuse balances over 100 cents, which the other read models accept. */
const strict = `
  create table account (account text primary key, cents bigint not null check (cents between 0 and 100), opened_at timestamptz not null);
  create table movement (position bigint primary key, account text not null references account, cents integer not null);`;
const projections = [accounts('accounts'), accounts('balances', { ddl: strict }), accounts('ledgers')];

let database: TestDatabase;
let store: InMemoryEventStore;
let projector: Projector;
let freshness: PostgresFreshness;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  for (const name of NAMES) await dropSchema(database.sql, name);
  store = new InMemoryEventStore();
  const progress = new Progress(systemTiming);
  const dependencies = { sql: database.sql, store, progress, timing: systemTiming, log: pino({ level: 'silent' }) };
  projector = new Projector(dependencies, projections);
  freshness = new PostgresFreshness(database.sql, projections, progress, store, systemTiming);
  await projector.start();
  await append(store, 'account-a', opened('a'));
  await eventually(sharesTransactions);
});
afterEach(() => projector.stop());

const cents = async (name: string, account = 'a') => {
  const { sql } = database;
  const [row] = await sql<{ cents: number }[]>`
    select cents::integer from ${sql(name)}.account where account = ${account}`;
  return row?.cents;
};

/** The transactions that wrote the newest movement of each read model. */
const transactions = async (names = NAMES) => {
  const { sql } = database;
  const each = await Promise.all(
    names.map((name) => sql<{ by: string }[]>`select xmin::text as by from ${sql(name)}.movement order by position desc limit 1`),
  );
  return each.map(([row]) => row!.by);
};

/** A read model joins the group some time after it has written its first events alone. */
const sharesTransactions = async () => {
  await isWritten(await append(store, 'account-a', moved('a', 0)));
  return new Set(await transactions()).size === 1;
};

const isWritten = async (position: bigint, names = NAMES) => expect(await freshness.reached(names, position)).toBe(true);

describe('read models that are up to date', () => {
  it('are written in one transaction with their checkpoints', async () => {
    const position = await append(store, 'account-a', moved('a', 5));
    await isWritten(position);
    expect(new Set(await transactions()).size).toBe(1);
    for (const name of NAMES) {
      expect(await cents(name)).toBe(5);
      expect((await readCheckpoint(database.sql, name))!.position).toBe(position);
    }
  });

  it('continue without an entity that one of them cannot apply, and share transactions again afterwards', async () => {
    await append(store, 'account-b', opened('b'));
    await isWritten(await append(store, 'account-a', moved('a', 500)));
    expect(await Promise.all(NAMES.map((name) => cents(name)))).toEqual([500, 0, 500]);
    expect(await parkedIn(database.sql, 'balances')).toMatchObject([{ entity: 'account-a', held: 1 }]);
    for (const name of ['accounts', 'ledgers']) expect(await parkedIn(database.sql, name)).toEqual([]);
    await isWritten(await append(store, 'account-a', moved('a', -450)));
    await isWritten(await append(store, 'account-b', moved('b', 7)));
    expect(await Promise.all(NAMES.map((name) => cents(name, 'b')))).toEqual([7, 7, 7]);
    expect(new Set(await transactions()).size).toBe(1);
    await database.sql`alter table balances.account drop constraint account_cents_check`;
    expect(await retryParked(database.sql, store, await definitionOf(projections[1]!))).toMatchObject({
      released: ['account-a'],
    });
    expect(await Promise.all(NAMES.map((name) => cents(name)))).toEqual([50, 50, 50]);
    // The retry took over the read model, so its writer starts again and joins the others later.
    await isWritten(await append(store, 'account-a', moved('a', 1)));
    await eventually(async () => {
      await isWritten(await append(store, 'account-b', moved('b', 1)));
      return new Set(await transactions()).size === 1;
    });
  });

  it('do not wait for one that is locked, as at the end of its rebuild', async () => {
    let position = 0n;
    await heldStill(database.sql, systemTiming, 'balances', async () => {
      position = await append(store, 'account-a', moved('a', 9));
      await isWritten(position, ['accounts', 'ledgers']);
      expect(await cents('balances')).toBe(0);
    });
    await isWritten(position);
    expect(await cents('balances')).toBe(9);
  });

  it('continue when another writer has taken one of them over, and take it back', async () => {
    await takeOver(database.sql, await definitionOf(projections[1]!), 'balances');
    await isWritten(await append(store, 'account-a', moved('a', 3)));
    expect(await Promise.all(NAMES.map((name) => cents(name)))).toEqual([3, 3, 3]);
  });

  it('apply each event once while their connections are killed', async () => {
    for (let n = 0; n < 10; n++) {
      await append(store, 'account-a', moved('a', 1));
      await database.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.catch(
        () => undefined,
      );
    }
    const position = await append(store, 'account-a', moved('a', 10));
    await eventually(async () => {
      const each = await Promise.all(NAMES.map((name) => readCheckpoint(database.sql, name)));
      return each.every((checkpoint) => checkpoint!.position >= position);
    });
    expect(await Promise.all(NAMES.map((name) => cents(name)))).toEqual([20, 20, 20]);
  });
});
