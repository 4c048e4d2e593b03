import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accounts, moved, opened, purged } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { EventsForTests, projecting } from '../../../test/support/projecting.js';
import type { StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { DefinitionChanged, definitionOf } from './definition.js';
import { HELD_EVENTS_MAX, TooManyHeld } from './parking.js';
import { systemTiming } from '../system-timing.js';
import { ProjectionWriter } from './projection-writer.js';
import { heldStill } from './rebuild-comparison.js';
import { FencedOut } from './shared-transaction.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const balances = async () => {
  const rows = await database.sql<{ account: string; cents: number }[]>`
    select account, cents::integer from accounts.account order by account`;
  return rows.map(({ account, cents }) => [account, cents]);
};
const movements = async () => {
  const rows = await database.sql<{ account: string; cents: number }[]>`
    select account, cents from accounts.movement order by position`;
  return rows.map(({ account, cents }) => `${account} ${cents}`);
};

describe('a projection', () => {
  let read: Awaited<ReturnType<typeof projecting>>;
  beforeEach(async () => {
    read = await projecting(accounts(), database.sql);
  });

  it('turns events into rows once although they are delivered twice, and gives the same rows in a rebuild', async () => {
    await read.given('account-a', [opened('a'), moved('a', 5), moved('a', 7)]);
    await read.given('account-b', [opened('b')]);
    await read.again();
    expect(await balances()).toEqual([
      ['a', 12],
      ['b', 0],
    ]);
    expect(await movements()).toEqual(['a 5', 'a 7']);
    await read.expectSameAfterRebuild();
  });

  it('locks its checkpoint before any row, so that a rebuild can swap the tables', async () => {
    await read.given('account-a', [opened('a')]);
    let written: Promise<unknown> | undefined;
    await heldStill(database.sql, systemTiming, 'accounts', async (tx) => {
      written = read.given('account-a', [moved('a', 5)]);
      const waiting = () => tx`select from pg_locks where not granted and relation = 'accounts.checkpoint'::regclass`;
      await eventually(async () => (await waiting()).length > 0);
      const locked =
        await tx`select mode from pg_locks where relation in ('accounts.account'::regclass, 'accounts.movement'::regclass)`;
      expect(locked.map(({ mode }) => mode as string)).toEqual([]);
    });
    await written;
    expect(await balances()).toEqual([['a', 5]]);
  });

  it('skips events of other categories and of unknown types', async () => {
    await read.given('other-a', [opened('x')]);
    await read.given('account-a', [{ type: 'AccountPainted', data: {} }, opened('a')]);
    expect(await balances()).toEqual([['a', 0]]);
    expect(await read.parked()).toEqual([]);
  });

  it('parks only the entity whose event the tables refuse, and holds its later events', async () => {
    await read.given('account-a', [opened('a'), moved('a', 5)]);
    await read.given('account-b', [opened('b'), moved('b', 3)]);
    await read.given('account-a', [moved('a', -100)]);
    await read.given('account-a', [moved('a', 1)]);
    await read.given('account-b', [moved('b', 4)]);
    expect(await balances()).toEqual([
      ['a', 5],
      ['b', 7],
    ]);
    const parked = await read.parked();
    expect(parked).toMatchObject([{ entity: 'account-a', held: 2 }]);
    expect(parked[0]!.error).toContain('account_cents_check');
  });

  it('applies the rest of a page when one event is refused', async () => {
    await read.given('account-a', [opened('a')]);
    await read.given('account-a', [moved('a', 1), moved('a', -100), moved('a', 2)]);
    expect(await balances()).toEqual([['a', 1]]);
    expect(await movements()).toEqual(['a 1']);
  });

  it.each([
    ['the tables refuse', [moved('a', -100)], {}],
    ['it cannot decode', [moved('a', 1)], { version: 9 }],
  ])(
    'removes the rows of a parked entity when it is purged, although an event that %s came before',
    async (_what, events, how) => {
      await read.given('account-a', [opened('a'), moved('a', 5)]);
      await read.given('account-a', events, how);
      await read.given('account-a', [moved('a', 1)]);
      await read.given('account-b', [opened('b'), moved('b', 3)]);
      expect(await read.parked()).toMatchObject([{ entity: 'account-a', held: 2 }]);
      await read.given('account-a', [purged('a'), opened('a')]);
      expect(await read.parked()).toEqual([]);
      expect(await balances()).toEqual([
        ['a', 0],
        ['b', 3],
      ]);
      expect(await movements()).toEqual(['b 3']);
      await read.expectSameAfterRebuild(({ stream, revision }) => stream !== 'account-a' || revision >= 4);
    },
  );

  it('parks an entity again when its purge cannot be applied', async () => {
    await read.given('account-a', [opened('a'), moved('a', -100), moved('a', 1)]);
    await read.given('account-a', [purged('a\0')]);
    expect(await read.parked()).toMatchObject([{ entity: 'account-a', held: 1 }]);
  });

  it.each([
    ['a version from the future', [opened('a')], { version: 9 }],
    ['an invalid time', [opened('a', 'yesterday')], {}],
    ['a NUL', [opened('a\0')], {}],
  ])('parks an event with %s and continues', async (_what, events, circumstances) => {
    await read.given('account-a', events, circumstances);
    await read.given('account-b', [opened('b')]);
    expect(await balances()).toEqual([['b', 0]]);
    expect(await read.parked()).toMatchObject([{ entity: 'account-a', held: 1 }]);
  });

  it('has one writer: an earlier writer is fenced out and its writes fail', async () => {
    const log = new EventsForTests();
    const page = (events: readonly StoredEvent[]) => ({ events, position: events.at(-1)!.position });
    const definition = await definitionOf(accounts());
    const old = await ProjectionWriter.open(database.sql, definition);
    await old.write(page(log.add('account-a', [opened('a')])));
    const next = page(log.add('account-a', [moved('a', 5)]));
    const young = await ProjectionWriter.open(database.sql, definition);
    // The old writer is fenced out before the new one has written.
    await expect(old.write(next)).rejects.toThrow(FencedOut);
    await young.write(next);
    await expect(old.write(next)).rejects.toThrow(FencedOut);
    await expect(old.write(page(log.add('account-a', [moved('a', 9)])))).rejects.toThrow(FencedOut);
    expect(await balances()).toEqual([['a', 5]]);
  });

  it('is not written by another version of itself', async () => {
    await read.given('account-a', [opened('a')]);
    const other = await definitionOf(accounts('accounts', { version: 2 }));
    await expect(ProjectionWriter.open(database.sql, other)).rejects.toThrow(DefinitionChanged);
    await read.given('account-a', [moved('a', 5)]);
    expect(await balances()).toEqual([['a', 5]]);
  });

  it('stops when it would have to hold too many events', async () => {
    await read.given('account-a', [opened('a'), moved('a', -1)]);
    const flood = Array.from({ length: HELD_EVENTS_MAX }, () => moved('a', 1));
    await expect(read.given('account-a', flood)).rejects.toThrow(TooManyHeld);
    expect(await read.parked()).toMatchObject([{ held: 1 }]);
  });
});
