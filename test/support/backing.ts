import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { EventStoreDbEventStore } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { type EventStoreDbForTest, eventStoreDbForTest } from './eventstoredb-for-tests.js';
import type { DoubleOptions } from './eventstoredb-double/event-store-db-double.js';
import { NatsServer } from './nats-server.js';
import { serviceDatabase, testDatabase, type TestDatabase } from './postgres-for-tests.js';

/** Long enough that a test machine that stalls for a while does not look like an unavailable store. */
const DEADLINE_MS = 30_000;

/** The infrastructure of a service: its settings, and access to its log from outside. */
export type Ground = Readonly<{
  name: string;
  environment: Readonly<Record<string, string>>;
  store: Pick<EventStore, 'read' | 'readAll'>;
  close(): Promise<void>;
}>;

/** The infrastructure of a service in a story: its own database, and a log that the test may append to. */
export type Backing = Ground & Readonly<{ database: TestDatabase; store: EventStore }>;

export type MakeBacking = () => Promise<Backing>;

/** Everything in one Postgres. */
export const onPostgres: MakeBacking = async () => inPostgres(await serviceDatabase());

/** An empty Postgres, as on a first start: the service creates its schemas. */
export const onEmptyPostgres: MakeBacking = async () => inPostgres(await testDatabase());

function inPostgres(database: TestDatabase): Backing {
  const store = new PostgresEventStore({ url: database.url, readConnections: 1, deadlineMs: DEADLINE_MS });
  return {
    name: 'Postgres alone',
    environment: { DATABASE_URL: database.url },
    database,
    store,
    close: async () => {
      await store.close();
      await database.close();
    },
  };
}

/** Log and read models in one Postgres, signals and work queue over NATS: the minimum that several processes can share. */
export const onPostgresAndNats: MakeBacking = async () => {
  const [alone, nats] = await Promise.all([onPostgres(), NatsServer.start()]);
  return {
    ...alone,
    name: 'Postgres and NATS',
    environment: { ...alone.environment, NATS_URL: nats.url },
    close: async () => {
      await Promise.all([alone.close(), nats.stop()]);
    },
  };
};

export type EventStoreDbBacking = Backing & Readonly<{ eventStoreDb: EventStoreDbForTest }>;
export type FullBacking = EventStoreDbBacking & Readonly<{ nats: NatsServer }>;

/** The log in EventStoreDB, read models in Postgres, everything else in one process. */
export const onEventStoreDb = async (options?: DoubleOptions): Promise<EventStoreDbBacking> => {
  const [database, eventStoreDb] = await Promise.all([serviceDatabase(), eventStoreDbForTest(options)]);
  const store = new EventStoreDbEventStore({
    connectionString: eventStoreDb.connectionString,
    appendDeadlineMs: DEADLINE_MS,
    answerDeadlineMs: DEADLINE_MS,
  });
  return {
    name: 'EventStoreDB and Postgres',
    environment: { DATABASE_URL: database.url, EVENT_STORE: eventStoreDb.connectionString },
    database,
    store,
    eventStoreDb,
    close: async () => {
      await store.close();
      await Promise.all([eventStoreDb.close(), database.close()]);
    },
  };
};

/** The log in EventStoreDB, read models in Postgres, signals and work queue over NATS, as in a cluster. */
export const onEventStoreDbAndNats = async (options?: DoubleOptions): Promise<FullBacking> => {
  const [alone, nats] = await Promise.all([onEventStoreDb(options), NatsServer.start()]);
  return {
    ...alone,
    name: 'EventStoreDB, Postgres and NATS',
    environment: { ...alone.environment, NATS_URL: nats.url },
    nats,
    close: async () => {
      await Promise.all([alone.close(), nats.stop()]);
    },
  };
};
