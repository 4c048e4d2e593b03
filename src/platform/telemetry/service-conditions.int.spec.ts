import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { accounts, append, moved, opened } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { eventStoreDbForTest } from '../../../test/support/eventstoredb-for-tests.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { notReady } from '../../kernel/conditions.js';
import { type EventStore, LOG_DIFFERS, LOG_ENDS_EARLIER } from '../../kernel/event-sourcing/event-store.js';
import { EventStoreDbEventStore } from '../event-store/eventstoredb/eventstoredb-event-store.js';
import { InProcessKeyValue } from '../messaging/key-value/in-process-key-value.js';
import { definitionOf } from '../projections/definition.js';
import { Progress } from '../projections/progress.js';
import { ProjectionFaults } from '../projections/projection-faults.js';
import { Projector } from '../projections/projector.js';
import { createSchema, dropSchema } from '../projections/schema.js';
import { createReactionTables } from '../reactions/reaction-tables.js';
import { systemTiming } from '../system-timing.js';
import { ServiceConditions } from './service-conditions.js';

describe('the conditions of the service', () => {
  let database: TestDatabase;
  const store = new InMemoryEventStore();
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());

  const look = (more: Partial<ConstructorParameters<typeof ServiceConditions>[0]> = {}) =>
    new ServiceConditions({ sql: database.sql, store, checks: {}, projections: [accounts()], ...more }).report();

  /** Starts the only projector of the read model. */
  const following = async (log: EventStore = store, faults?: ProjectionFaults) => {
    const dependencies = {
      sql: database.sql,
      store: log,
      progress: new Progress(systemTiming),
      timing: systemTiming,
      log: pino({ level: 'silent' }),
    };
    const projector = new Projector({ ...dependencies, ...(faults && { faults }) }, [accounts()]);
    await projector.start();
    return projector;
  };

  it('are degraded before the first event when no projector is running', async () => {
    expect(await look()).toMatchObject({
      readiness: 'degraded',
      reasons: ['No projector is alive that writes accounts.'],
      projections: { accounts: { ok: true, position: null } },
      reactions: {},
    });
    const projector = await following();
    await eventually(async () => (await look()).readiness === 'ready');
    expect((await look()).reasons).toEqual([]);
    await projector.stop();
  });

  it('are not ready while a read model fails that was never written, in all processes', async () => {
    await append(store, 'account-0', opened('0'));
    const shared = new InProcessKeyValue();
    const refusing = refusingToBeFollowed(store);
    const projector = await following(refusing, new ProjectionFaults(shared));
    const here = () => look({ store: refusing, projector });
    const there = () => look({ faults: () => new ProjectionFaults(shared).all() });
    for (const process of [here, there]) {
      // Before its first failure the read model is unusable because no projector has begun it.
      await eventually(async () => (await process()).projections['accounts']?.error === 'The store refuses to be followed.');
      const { readiness, reasons, projections } = await process();
      expect(readiness).toBe('not_ready');
      expect(reasons).toEqual(['Not usable: read model accounts: The store refuses to be followed.']);
      expect(projections['accounts']).toMatchObject({ ok: false, position: '-1', error: 'The store refuses to be followed.' });
    }
    refusing.refuses = false;
    for (const process of [here, there]) await eventually(async () => (await process()).readiness === 'ready');
    await projector.stop();
  });

  it('are not ready while no projector has begun a read model that has events', async () => {
    await dropSchema(database.sql, 'accounts');
    await createSchema(database.sql, await definitionOf(accounts()), 'accounts');
    expect(await look()).toMatchObject({
      readiness: 'not_ready',
      reasons: [
        'Not usable: read model accounts: No projector has begun to write it.',
        'No projector is alive that writes accounts.',
      ],
    });
  });

  it('report lag, parked entities and held events', async () => {
    const projector = await following();
    await append(store, 'account-a', opened('a'), moved('a', -1), moved('a', 2));
    await eventually(async () => (await look()).projections['accounts']?.held === 2);
    expect((await look()).projections['accounts']).toMatchObject({ ok: true, behind: '0', secondsBehind: 0, parked: 1 });
    await projector.stop();
    await append(store, 'account-b', opened('b'));
    const { readiness, projections } = await look();
    expect(readiness).toBe('degraded');
    expect(Number(projections['accounts']!.behind)).toBeGreaterThan(0);
  });

  it('report no lag while the log has only events of others after the position of a follower, as after frames', async () => {
    const server = await eventStoreDbForTest();
    const log = new EventStoreDbEventStore({ connectionString: server.connectionString });
    try {
      const position = await append(log, 'account-d', opened('d'));
      await createSchema(database.sql, await definitionOf(accounts('accounts_lag')), 'accounts_lag');
      await database.sql`update accounts_lag.checkpoint set position = ${String(position)}`;
      await append(log, 'message-1', opened('d'));
      await createReactionTables(database.sql);
      await database.sql`insert into reactions.reaction_checkpoint values ('greet', ${String(position)}, now(), 0)`;
      const reactions = { failureOf: () => undefined, filterOf: () => ({ categories: ['account'] }) };
      const report = await look({ store: log, projections: [accounts('accounts_lag')], reactions });
      for (const follower of [report.projections['accounts_lag']!, report.reactions['greet']!]) {
        expect(follower.secondsBehind).toBe(0);
        expect(Number(follower.behind)).toBeGreaterThan(0);
      }
    } finally {
      await database.sql`delete from reactions.reaction_checkpoint`;
      await log.close();
      await server.close();
    }
  });

  it('are degraded while a read model fails that was written before', async () => {
    const projector = { failureOf: () => 'The store refuses to be followed.' };
    expect(await look({ projector })).toMatchObject({
      readiness: 'degraded',
      reasons: expect.arrayContaining(['Not kept up: read model accounts: The store refuses to be followed.']) as unknown,
      projections: { accounts: { ok: true } },
    });
  });

  it('have the age of the oldest snapshot of any session', async () => {
    const session = await database.sql.reserve();
    try {
      await session`begin isolation level repeatable read`;
      await session`select 1`;
      await eventually(async () => (await look()).snapshotSeconds! > 1);
      await session`rollback`;
      expect((await look()).snapshotSeconds).toBeLessThan(1);
    } finally {
      session.release();
    }
  });

  it('are not ready while a read model is past the end of the log', async () => {
    const head = await store.head();
    const restored = new InMemoryEventStore();
    expect(head).toBeGreaterThan(await append(restored, 'account-c', opened('c')));
    const projector = await following(restored);
    await eventually(async () => (await look({ store: restored, projector })).readiness === 'not_ready');
    expect((await look({ store: restored, projector })).reasons).toEqual([
      `Not usable: read model accounts: ${LOG_ENDS_EARLIER}`,
    ]);
    await projector.stop();
  });

  it('are not ready while the log has no event at the place of a read model', async () => {
    expect(await look({ projector: { failureOf: () => LOG_DIFFERS } })).toMatchObject({
      readiness: 'not_ready',
      reasons: expect.arrayContaining([`Not usable: read model accounts: ${LOG_DIFFERS}`]) as unknown,
    });
  });

  it('are not ready when a read model needs a rebuild or a dependency does not answer in time', async () => {
    await createReactionTables(database.sql);
    const changed = await look({ projections: [accounts('accounts', { version: 2 })] });
    expect(changed.readiness).toBe('not_ready');
    expect(changed.projections['accounts']!.error).toContain('npm run rebuild -- accounts');
    const away = await look({
      checks: {
        nats: () => Promise.reject(new Error('refused')),
        slow: () => new Promise(() => undefined),
        fine: async () => undefined,
      },
    });
    expect(away).toMatchObject({
      readiness: 'not_ready',
      dependencies: { nats: { ok: false, error: 'Error: refused' }, slow: { ok: false }, fine: { ok: true } },
    });
    expect(away.reasons.slice(0, 2)).toEqual([
      'nats does not answer: Error: refused',
      'slow does not answer: Error: No answer within 2000 ms.',
    ]);
  });

  it('name no address of a dependency', async () => {
    const refused = new Error('connect ECONNREFUSED db.internal:5432 and 10.0.0.7:5432');
    const { dependencies, projections, reasons } = await look({
      hosts: ['db.internal'],
      checks: { postgres: () => Promise.reject(refused) },
      projector: { failureOf: () => refused.message },
    });
    const shown = 'connect ECONNREFUSED <address> and <address>';
    expect(dependencies['postgres']).toMatchObject({ ok: false, error: `Error: ${shown}` });
    expect(projections['accounts']).toMatchObject({ error: shown });
    expect(reasons.join()).not.toMatch(/internal|10\.0/);
  });

  it('include further readiness checks, except those that fail or take too long', async () => {
    const readinessChecks = [
      async () => notReady('The demo is being made.'),
      async () => undefined,
      () => Promise.reject(new Error('nobody knows')),
      () => new Promise<never>(() => undefined),
    ];
    const { readiness, reasons } = await look({ readinessChecks });
    expect([readiness, reasons[0]]).toEqual(['not_ready', 'The demo is being made.']);
    expect(reasons).toHaveLength(2);
  });
});

/** A store that refuses followers while `refuses` is true. */
const refusingToBeFollowed = (store: EventStore): EventStore & { refuses: boolean } =>
  Object.assign(Object.create(store) as EventStore & { refuses: boolean }, {
    refuses: true,
    followAll(this: { refuses: boolean }, ...of: Parameters<EventStore['followAll']>) {
      if (this.refuses) throw new Error('The store refuses to be followed.');
      return store.followAll(...of);
    },
  });
