import { it } from '@jest/globals';
import { onPostgres } from '../support/backing.js';
import { EventStoreDbEventStore } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { EventStoreDbDouble } from '../support/eventstoredb-double/event-store-db-double.js';
import { PostgresLine } from '../support/postgres-for-tests.line.js';
import { type Breakable, OUTAGE_TEST_MS_MAX, outageStory } from './outage.story.js';

const overBreakablePostgres = async (): Promise<Breakable> => {
  const backing = await onPostgres();
  const line = await PostgresLine.to(backing.database.url);
  const close = async () => {
    await line.close();
    await backing.close();
  };
  return {
    backing: { ...backing, environment: { ...backing.environment, DATABASE_URL: line.url }, close },
    goAway: () => line.cut(),
    comeBack: () => line.mend(),
  };
};

const overBreakableEventStoreDb = async (): Promise<Breakable> => {
  const [backing, double] = await Promise.all([onPostgres(), EventStoreDbDouble.start()]);
  const store = new EventStoreDbEventStore({ connectionString: double.connectionString });
  const close = async () => {
    await store.close();
    await double.close();
    await backing.close();
  };
  return {
    backing: { ...backing, environment: { ...backing.environment, EVENT_STORE: double.connectionString }, store, close },
    goAway: () => double.crash(),
    comeBack: () => double.listen(),
  };
};

it('streams outlive a Postgres that is gone for ten seconds', () => outageStory(overBreakablePostgres), OUTAGE_TEST_MS_MAX);
it(
  'streams outlive an EventStoreDB that is gone for ten seconds',
  () => outageStory(overBreakableEventStoreDb),
  OUTAGE_TEST_MS_MAX,
);
