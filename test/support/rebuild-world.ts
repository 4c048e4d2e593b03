import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { pino } from 'pino';
import type { Projection } from '../../projections/projection.js';
import { PostgresFreshness } from '../../src/platform/projections/postgres-freshness.js';
import { Progress } from '../../src/platform/projections/progress.js';
import { Projector } from '../../src/platform/projections/projector.js';
import { Rebuild, type RebuildOptions } from '../../src/platform/projections/rebuild.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { accounts, append, moved, opened } from './accounts.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { type TestDatabase, testDatabase } from './postgres-for-tests.js';

const log = pino({ level: 'silent' });

/** An empty log for each test, and in one database the accounts that projectors and rebuilds read from it. */
export function rebuildWorld() {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    for (const schema of ['accounts', 'accounts_rebuilt', 'accounts_retired'])
      await database.sql`drop schema if exists ${database.sql(schema)} cascade`;
    world.store = new InMemoryEventStore();
    world.running = [];
  });
  afterEach(() => Promise.all(world.running.map((projector) => projector.stop())));

  const world = {
    store: new InMemoryEventStore(),
    running: [] as Projector[],

    get sql() {
      return database.sql;
    },

    project: async (projection: Projection = accounts()): Promise<Projector> => {
      const { store } = world;
      const projector = new Projector(
        { sql: database.sql, store, progress: new Progress(systemTiming), timing: systemTiming, log },
        [projection],
      );
      world.running.push(projector);
      await projector.start();
      return projector;
    },

    rebuild: (projection: Projection = accounts(), options: Partial<RebuildOptions> = {}) =>
      Rebuild.run(database.sql, world.store, projection, {
        timing: systemTiming,
        signal: new AbortController().signal,
        onProgress: () => undefined,
        ...options,
      }),

    reached: (position: bigint) =>
      new PostgresFreshness(database.sql, [accounts()], new Progress(systemTiming), world.store, systemTiming).reached(
        ['accounts'],
        position,
      ),

    schemas: async () =>
      (await database.sql<{ nspname: string }[]>`select nspname from pg_namespace where nspname like 'accounts%' order by 1`).map(
        ({ nspname }) => nspname,
      ),

    cents: async () => {
      const [row] = await database.sql<{ sum: number }[]>`select coalesce(sum(cents), 0)::integer as sum from accounts.account`;
      return row!.sum;
    },

    openAccounts: async (count: number, movements: number): Promise<bigint> => {
      let position = -1n;
      for (let n = 0; n < count; n++) {
        const moves = Array.from({ length: movements }, () => moved(`${n}`, 1));
        position = await append(world.store, `account-${n}`, opened(`${n}`), ...moves);
      }
      return position;
    },
  };
  return world;
}
