import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { EventStoreDbEventStore } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { type EventStoreDbForTest, eventStoreDbForTest } from './eventstoredb-for-tests.js';
import type { DoubleOptions } from './eventstoredb-double/event-store-db-double.js';
import { NatsServer } from './nats-server.js';
import { serviceDatabase, testDatabase, type TestDatabase } from './postgres-for-tests.js';

/** A machine that stands still for a while must not look like a store that is away. */
const DEADLINE_MS = 30_000;

/** What a service rests on: its settings, and a way to look into the log from outside. */
export type Ground = Readonly<{
  name: string;
  environment: Readonly<Record<string, string>>;
  store: Pick<EventStore, 'read' | 'readAll'>;
  close(): Promise<void>;
}>;

/** What a service of a story rests on: a database of its own, and a log that the test may write to as well. */
export type Backing = Ground & Readonly<{ database: TestDatabase; store: EventStore }>;

export type MakeBacking = () => Promise<Backing>;

/** Everything in one Postgres, and nothing else. */
export const onPostgres: MakeBacking = async () => inPostgres(await serviceDatabase());

/** As a new user has it: the service makes its schemas first. */
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

/** Log and read models in one Postgres, signals and work over NATS: the least that several processes can share. */
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

/** The log in EventStoreDB, everything else in one process and its Postgres. */
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

/** The log in EventStoreDB, read models in Postgres, signals and work over NATS: what a cluster has. */
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
