import type { Projection } from '../../../projections/projection.js';
import { ReadModels } from '../../../projections/read-models.js';
import type { StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import type { Event } from '../../../src/kernel/event-sourcing/events.js';
import { testDatabase } from '../../support/postgres-for-tests.js';
import { type Circumstances, EventsForTests, projecting } from '../../support/projecting.js';

/** A read model that a test feeds. Queries show events once `given` resolves. */
export type ReadModelUnderTest<Queries> = Readonly<{
  queries: Queries;
  given: (stream: string, events: readonly Event[], circumstances?: Circumstances) => Promise<unknown>;
  close: () => Promise<void>;
}>;

/** The real read model: tables in a separate database. */
export async function inPostgres<Queries>(projection: Projection, queriesOf: (readModels: ReadModels) => Queries) {
  const database = await testDatabase();
  const model = await projecting(projection, database.sql);
  const subject: ReadModelUnderTest<Queries> = {
    queries: queriesOf(new ReadModels(database.sql)),
    given: model.given,
    close: () => database.close(),
  };
  return { ...subject, model };
}

type Twin = Readonly<{ apply: (event: StoredEvent) => void }>;

/** The in-memory read model of the simulation. */
export function asTwin<Queries>(
  { codec }: Pick<Projection, 'codec'>,
  queries: Queries & (Twin | { tables: Twin }),
): ReadModelUnderTest<Queries> {
  const log = new EventsForTests(codec);
  const twin = 'tables' in queries ? queries.tables : queries;
  return {
    queries,
    given: async (...given) => {
      for (const event of log.add(...given)) twin.apply(event);
    },
    close: async () => {},
  };
}
