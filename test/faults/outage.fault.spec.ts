import { it } from '@jest/globals';
import { onEventStoreDb, onPostgres } from '../support/backing.js';
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
  const backing = await onEventStoreDb();
  return { backing, goAway: () => backing.eventStoreDb.goAway(), comeBack: () => backing.eventStoreDb.comeBack() };
};

it('streams survive a Postgres outage of ten seconds', () => outageStory(overBreakablePostgres), OUTAGE_TEST_MS_MAX);
it('streams survive an EventStoreDB outage of ten seconds', () => outageStory(overBreakableEventStoreDb), OUTAGE_TEST_MS_MAX);
