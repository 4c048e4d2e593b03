import { EventStoreDBClient } from '@eventstore/db-client';

import { EventStoreDbEventStore } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { EventStoreDbDouble } from '../support/eventstoredb-double/event-store-db-double.js';
import { eventStoreDbForTest } from '../support/eventstoredb-for-tests.js';
import { eventStoreContract } from './event-store.contract.js';
import type { Subject } from './event-store.subject.js';

const server = process.env['TEST_EVENTSTOREDB_URL'];
const command = process.env['TEST_EVENTSTOREDB_COMMAND'];
/** Long enough that a test machine that stalls for a while does not look like an unavailable store. */
const PATIENT = { appendDeadlineMs: 30_000, answerDeadlineMs: 30_000 };

async function bury(connectionString: string, stream: string): Promise<void> {
  const client = EventStoreDBClient.connectionString(connectionString);
  await client.tombstoneStream(stream);
  await client.dispose();
}

async function onDouble(): Promise<Subject> {
  const double = await EventStoreDbDouble.start();
  const store = new EventStoreDbEventStore({ connectionString: double.connectionString, ...PATIENT });
  return {
    store,
    close: async () => {
      await store.close();
      await double.close();
    },
    restart: async () => {
      await double.crash();
      await double.listen();
    },
    bury: (stream) => bury(double.connectionString, stream),
    delivered: async () => double.delivered,
  };
}

async function onServer(connectionString: string): Promise<Subject> {
  const store = new EventStoreDbEventStore({ connectionString, ...PATIENT });
  return { store, close: () => store.close(), bury: (stream) => bury(connectionString, stream) };
}

async function onOwnServer(): Promise<Subject> {
  const own = await eventStoreDbForTest();
  const subject = await onServer(own.connectionString);
  return {
    ...subject,
    close: async () => {
      await subject.close();
      await own.close();
    },
    restart: async () => {
      await own.goAway();
      await own.comeBack();
    },
  };
}

if (command) {
  eventStoreContract('EventStoreDbEventStore on a server of its own', { open: onOwnServer, can: { restart: true, bury: true } });
} else if (server) {
  eventStoreContract('EventStoreDbEventStore on a server', { open: () => onServer(server), can: { bury: true } });
} else {
  eventStoreContract('EventStoreDbEventStore on the double', {
    open: onDouble,
    can: { restart: true, bury: true, delivered: true },
  });
}
