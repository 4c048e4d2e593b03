import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import postgres from 'postgres';
import { accounts, append, moved, opened } from '../../../test/support/accounts.js';
import { endLeaders } from '../../../test/support/end-leaders.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import type { Projection } from '../../../projections/projection.js';
import { requireReached } from '../../kernel/event-sourcing/freshness.js';
import { InProcessKeyValue } from '../messaging/key-value/in-process-key-value.js';
import { systemTiming } from '../system-timing.js';
import { Leadership } from '../supervision/leadership.js';
import { Semaphore } from '../supervision/semaphore.js';
import { openLog } from '../telemetry/log.js';
import { definitionOf } from './definition.js';
import { parkedIn, retryParked } from './parking.js';
import { PostgresFreshness } from './postgres-freshness.js';
import { Progress } from './progress.js';
import { ProjectionFaults } from './projection-faults.js';
import { writerOf } from './projection-runner.js';
import { Projector } from './projector.js';
import { createSchema, dropSchema, readCheckpoint } from './schema.js';

let logged: readonly Record<string, unknown>[] = [];
const note = (line: string) => void (logged = [...logged, JSON.parse(line) as Record<string, unknown>]);
const log = openLog({ level: 'error', format: 'json', destination: { write: note } });
let database: TestDatabase;
let store: InMemoryEventStore;
let running: Projector[];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  for (const schema of ['accounts', 'ledger']) await dropSchema(database.sql, schema);
  store = new InMemoryEventStore();
  running = [];
  logged = [];
});
afterEach(() => Promise.all(running.map((projector) => projector.stop())));

async function start(
  projections: readonly Projection[] = [accounts()],
  progress = new Progress(systemTiming),
  more: Pick<ConstructorParameters<typeof Projector>[0], 'faults' | 'ownRebuilds'> = {},
): Promise<Projector> {
  const projector = new Projector({ sql: database.sql, store, progress, timing: systemTiming, log, ...more }, projections);
  running.push(projector);
  await projector.start();
  return projector;
}

/** The freshness in another process, which is not notified of writes. */
const elsewhere = () => new PostgresFreshness(database.sql, [accounts()], new Progress(systemTiming), store, systemTiming);

const cents = async (account: string) => {
  const [row] = await database.sql<{ cents: number }[]>`select cents::integer from accounts.account where account = ${account}`;
  return row?.cents;
};

describe('the projector', () => {
  it('follows the log from its beginning, and readers in any process can wait for a write', async () => {
    await append(store, 'account-a', opened('a'), moved('a', 5));
    const progress = new Progress(systemTiming);
    await start([accounts()], progress);
    const here = new PostgresFreshness(database.sql, [accounts()], progress, store, systemTiming);
    await here.reached(['accounts'], await append(store, 'account-a', moved('a', 7)));
    expect(await cents('a')).toBe(12);
    await elsewhere().reached(['accounts'], await append(store, 'account-a', moved('a', 8)));
    expect(await cents('a')).toBe(20);
  });

  it('leaves half of the connections to requests while many read models are behind', async () => {
    const many = Array.from({ length: 12 }, (_, index) => accounts(`behind_${index}`));
    const definitions = await Promise.all(many.map(definitionOf));
    for (const definition of definitions) await createSchema(database.sql, definition, definition.schema);
    const position = await append(store, 'account-a', opened('a'));
    const blocker = postgres(database.url, { max: 2, onnotice: () => undefined });
    const held = await blocker.reserve();
    const blocked = async () => {
      const [row] = await blocker<{ count: number }[]>`
        select count(*)::integer from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return row!.count;
    };
    const progress = new Progress(systemTiming);
    try {
      await held`begin`;
      for (const { schema } of definitions) await held`lock table ${held(schema)}.account in exclusive mode`;
      await start(many, progress);
      await eventually(async () => (await blocked()) === 5);
      for (let look = 0; look < 20; look++) expect((await database.sql`select pg_sleep(0.02)`).count).toBe(1);
      expect(await blocked()).toBe(5);
    } finally {
      await held`rollback`;
      held.release();
      await blocker.end();
    }
    const freshness = new PostgresFreshness(database.sql, many, progress, store, systemTiming);
    const names = many.map(({ name }) => name);
    expect(await freshness.reached(names, position)).toBe(true);
  });

  it('writes events that are close together in few transactions while no reader waits', async () => {
    let hasCome = Promise.resolve();
    class LongLulls extends Progress {
      override batchingPause = () => hasCome;
    }
    const progress = new LongLulls(systemTiming);
    await start([accounts()], progress);
    const here = new PostgresFreshness(database.sql, [accounts()], progress, store, systemTiming);
    await here.reached(['accounts'], await append(store, 'account-a', opened('a')));
    let written = 0;
    progress.watch(() => written++);
    let come = () => {};
    hasCome = new Promise((resolve) => (come = resolve));
    for (let n = 0; n < 10; n++) await append(store, 'account-a', moved('a', 1));
    come();
    await eventually(async () => (await cents('a')) === 10);
    expect(written).toBeLessThanOrEqual(3);
  });

  it('bounds the wait of a reader and rejects an unknown projection', async () => {
    const freshness = new PostgresFreshness(database.sql, [accounts()], new Progress(systemTiming), store, systemTiming, 30);
    expect(await freshness.reached(['accounts'], 1n)).toBe(false);
    await expect(requireReached(freshness, ['accounts'], 1n)).rejects.toThrow('accounts have reached position 1 yet');
    expect(await freshness.reached(['accounts'], undefined)).toBe(true);
    await expect(freshness.reached(['balances'], 1n)).rejects.toThrow('no projection balances');
  });

  it('does not let a reader wait for positions that do not concern the read model, also when the store does not report them', async () => {
    const known = await append(store, 'account-a', opened('a'));
    const quiet = await append(store, 'message-1', { type: 'FrameSent', data: {} });
    const later = await append(store, 'account-a', moved('a', 1));
    const progress = new Progress(systemTiming);
    progress.wrote('accounts', known);
    const freshness = new PostgresFreshness(database.sql, [accounts()], progress, store, systemTiming, 60_000);
    expect(await freshness.reached(['accounts'], quiet)).toBe(true);
    expect(progress.hasReached(['accounts'], later)).toBe(false);
  });

  it('moves its checkpoint past events of other categories', async () => {
    await start();
    const position = await append(store, 'message-1', { type: 'FrameSent', data: {} });
    await eventually(async () => (await readCheckpoint(database.sql, 'accounts'))?.position === position);
  });

  it('has one writer at a time, and a standby takes over', async () => {
    const [one] = [await start(), await start(), await start()];
    for (let n = 0; n < 20; n++) await append(store, `account-${n}`, opened(`${n}`), moved(`${n}`, n));
    await one.stop();
    for (let n = 0; n < 20; n++) await append(store, `account-${n}`, moved(`${n}`, n));
    await elsewhere().reached(['accounts'], await store.head());
    const [sum] = await database.sql`select sum(cents)::integer as sum, count(*)::integer as accounts from accounts.account`;
    expect(sum).toEqual({ sum: 380, accounts: 20 });
    const [listed] = await database.sql`select count(*)::integer as movements from accounts.movement`;
    expect(listed).toEqual({ movements: 40 });
  });

  it('reports no failure of its own while another process is the writer', async () => {
    const reported: (string | undefined)[] = [];
    const faults = { report: (_, fault) => void reported.push(fault) } as Pick<ProjectionFaults, 'report'> as ProjectionFaults;
    const projector = await start([accounts()], new Progress(systemTiming), { faults });
    await elsewhere().reached(['accounts'], await append(store, 'account-a', opened('a')));
    reported.length = 0;
    const other = new Leadership(database.sql, systemTiming);
    do await endLeaders(database.sql);
    while (!(await other.tryGain(writerOf('accounts'))));
    await eventually(() => reported.length > 0 && projector.failureOf('accounts') === undefined);
    expect(reported.at(0)).toEqual(expect.any(String));
    expect(reported.at(-1)).toBeUndefined();
    await other.close();
  });

  it('withdraws the fault that its predecessor has published, once it makes progress', async () => {
    const faults = new ProjectionFaults(new InProcessKeyValue(() => 0));
    const second = accounts('accounts', { version: 2 });
    const predecessor = await start([accounts()]);
    await elsewhere().reached(['accounts'], await append(store, 'account-a', opened('a')));
    await predecessor.stop();
    const outdated = await start([second], new Progress(systemTiming), { faults });
    await eventually(async () => (await faults.all()).has('accounts'));
    await outdated.stop();
    expect([...(await faults.all()).keys()]).toEqual(['accounts']);
    await start([accounts()], new Progress(systemTiming), { faults });
    await eventually(async () => (await faults.all()).size === 0);
  });

  it('applies each event once while its connections are killed repeatedly', async () => {
    await start();
    await append(store, 'account-a', opened('a'));
    for (let n = 0; n < 15; n++) {
      await append(store, 'account-a', moved('a', 1), moved('a', 10));
      await database.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.catch(
        () => undefined,
      );
    }
    const position = await append(store, 'account-a', moved('a', 100));
    await eventually(async () => (await readCheckpoint(database.sql, 'accounts'))!.position >= position);
    expect(await cents('a')).toBe(15 * 11 + 100);
    expect(await parkedIn(database.sql, 'accounts')).toEqual([]);
  });

  it('applies a parked entity after a retry while the projector runs', async () => {
    await start();
    await append(store, 'account-a', opened('a'), moved('a', -5), moved('a', 1));
    await elsewhere().reached(['accounts'], await append(store, 'account-b', opened('b')));
    expect(await parkedIn(database.sql, 'accounts')).toMatchObject([{ entity: 'account-a', held: 2 }]);
    const message = expect.stringContaining('account_cents_check') as unknown;
    expect(logged).toMatchObject([{ level: 'error', stream: 'account-a', revision: 1, type: 'MoneyMoved', err: { message } }]);

    const definition = await definitionOf(accounts());
    expect((await retryParked(database.sql, store, definition)).released).toEqual([]);
    await database.sql`alter table accounts.account drop constraint account_cents_check`;
    expect(await retryParked(database.sql, store, definition, 'account-a')).toEqual({ released: ['account-a'], parked: [] });
    expect(await cents('a')).toBe(-4);

    await elsewhere().reached(['accounts'], await append(store, 'account-a', moved('a', 10)));
    expect(await cents('a')).toBe(6);
  });

  it('keeps no copy of held events, and a retry skips those that were purged meanwhile', async () => {
    await start();
    await append(store, 'account-a', opened('a'), moved('a', -123456), moved('a', 1));
    await elsewhere().reached(['accounts'], await append(store, 'account-b', opened('b')));
    const kept = await database.sql<{ text: string }[]>`select held::text as text from accounts.held`;
    expect(kept.filter(({ text }) => text.includes('123456'))).toEqual([]);
    expect(kept).toHaveLength(2);
    await store.setRetention('account-a', { truncateBefore: 2 });
    const definition = await definitionOf(accounts());
    expect(await retryParked(database.sql, store, definition)).toEqual({ released: ['account-a'], parked: [] });
    expect(await cents('a')).toBe(1);
  });

  it('retries events that an earlier version of the program held as copies', async () => {
    const first = await start();
    await append(store, 'account-a', opened('a'), moved('a', -5), moved('a', 6));
    await elsewhere().reached(['accounts'], await append(store, 'account-b', opened('b')));
    await first.stop();
    await database.sql`alter table accounts.held add column event text`;
    for (const revision of [1, 2]) {
      const event = JSON.stringify({ stream: 'account-a', revision, data: '{"name":"\\u0000"}' });
      await database.sql`update accounts.held set event = ${event} where revision = ${revision}`;
    }
    await database.sql`alter table accounts.held drop column stream, drop column revision`;
    await database.sql`alter table accounts.account drop constraint account_cents_check`;
    const definition = await definitionOf(accounts());
    expect(await retryParked(database.sql, store, definition)).toEqual({ released: ['account-a'], parked: [] });
    expect(await cents('a')).toBe(1);
  });

  it('does not write rows of another version of the projection, and reports the rebuild command', async () => {
    const first = await start();
    await elsewhere().reached(['accounts'], await append(store, 'account-a', opened('a')));
    await first.stop();
    const second = await start([accounts('accounts', { version: 2 })]);
    await append(store, 'account-a', moved('a', 1));
    await eventually(() => second.failureOf('accounts')?.includes('npm run rebuild -- accounts'));
    expect(await cents('a')).toBe(0);
  });

  it('rebuilds rows of another version itself if its process is alone, and as soon as there is space', async () => {
    const names = ['accounts', 'ledger'];
    const first = await start(names.map((name) => accounts(name)));
    await elsewhere().reached(['accounts'], await append(store, 'account-a', opened('a')));
    await first.stop();
    let isFull = true;
    const requireSpace = () => {
      if (isFull) throw new Error('The disk is full.');
    };
    const second = await start(
      names.map((name) => accounts(name, { version: 2 })),
      new Progress(systemTiming),
      { ownRebuilds: { limit: new Semaphore(1), requireSpace } },
    );
    await append(store, 'account-a', moved('a', 1));
    await eventually(() => second.failureOf('accounts') === 'The disk is full.');
    expect(await cents('a')).toBe(0);
    isFull = false;
    await eventually(async () => (await cents('a')) === 2);
    await eventually(() => names.every((name) => second.failureOf(name) === undefined));
  });
});
