import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { accounts, append, moved, opened } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { Progress } from '../projections/progress.js';
import { Projector } from '../projections/projector.js';
import { createReactionTables } from '../reactions/reaction-tables.js';
import { ServiceConditions } from './service-conditions.js';

describe('The conditions of the service', () => {
  let database: TestDatabase;
  const store = new InMemoryEventStore();
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());

  const look = (more: Partial<ConstructorParameters<typeof ServiceConditions>[0]> = {}) =>
    new ServiceConditions({ sql: database.sql, store, checks: {}, projections: [accounts()], ...more }).report();

  it('are good before anything has run', async () => {
    expect(await look()).toMatchObject({ ok: true, projections: { accounts: { ok: true, position: null } }, reactions: {} });
  });

  it('tell lag, parked entities and what waits with them', async () => {
    const projector = new Projector({ sql: database.sql, store, progress: new Progress(), log: pino({ level: 'silent' }) }, [
      accounts(),
    ]);
    await projector.start();
    await append(store, 'account-a', opened('a'), moved('a', -1), moved('a', 2));
    await eventually(async () => (await look()).projections['accounts']?.held === 2);
    expect((await look()).projections['accounts']).toMatchObject({ ok: true, behind: '0', secondsBehind: 0, parked: 1 });
    await projector.stop();
    await append(store, 'account-b', opened('b'));
    const { ok, projections } = await look();
    expect(ok).toBe(true);
    expect(Number(projections['accounts']!.behind)).toBeGreaterThan(0);
  });

  it('are bad when rows must be rebuilt or something is away, which is told within a bound', async () => {
    await createReactionTables(database.sql);
    const changed = await look({ projections: [accounts('accounts', { version: 2 })] });
    expect(changed.ok).toBe(false);
    expect(changed.projections['accounts']!.error).toContain('npm run rebuild -- accounts');
    const away = await look({
      checks: {
        nats: () => Promise.reject(new Error('refused')),
        slow: () => new Promise(() => undefined),
        fine: async () => undefined,
      },
    });
    expect(away).toMatchObject({
      ok: false,
      dependencies: { nats: { ok: false, error: 'Error: refused' }, slow: { ok: false }, fine: { ok: true } },
    });
  });
});
