import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { testDatabase } from '../support/postgres-for-tests.js';
import { eventStoreContract } from './event-store.contract.js';

eventStoreContract('PostgresEventStore', {
  open: async () => {
    const database = await testDatabase();
    const store = new PostgresEventStore({ url: database.url });
    await store.start();
    const close = async () => {
      await store.close();
      await database.close();
    };
    return { store, close };
  },
});
