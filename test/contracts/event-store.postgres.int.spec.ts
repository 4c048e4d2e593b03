import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { SoleWriterEventStore } from '../../src/platform/event-store/sole-writer-event-store.js';
import { PostgresLine } from '../support/postgres-for-tests.line.js';
import { testDatabase } from '../support/postgres-for-tests.js';
import { eventStoreContract } from './event-store.contract.js';

/** The size of an event in the back-pressure test, the only test that reads enough for this to matter. */
const EVENT_BYTES = 10_000;
const AWAY_MS = 300;
/** Long enough that a test machine that stalls for a while does not look like an unavailable store. */
const DEADLINE_MS = 30_000;

const subject = (over: (store: PostgresEventStore) => EventStore) => ({
  open: async () => {
    const database = await testDatabase();
    const line = await PostgresLine.to(database.url);
    const store = new PostgresEventStore({ url: line.url, deadlineMs: DEADLINE_MS });
    await store.start();
    const close = async () => {
      await store.close();
      await line.close();
      await database.close();
    };
    const restart = async () => {
      line.cut();
      await sleep(AWAY_MS);
      line.mend();
    };
    return { store: over(store), close, restart, delivered: async () => line.bytesFromServer / EVENT_BYTES };
  },
  can: { restart: true, delivered: true } as const,
});

eventStoreContract(
  'PostgresEventStore',
  subject((store) => store),
);
eventStoreContract(
  'SoleWriterEventStore over Postgres',
  subject((store) => new SoleWriterEventStore(store)),
);
