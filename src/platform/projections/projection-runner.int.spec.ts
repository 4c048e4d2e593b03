import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { accounts, append, moved, opened } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import type { EventStore, LogPage } from '../../kernel/event-sourcing/event-store.js';
import { Leadership } from '../supervision/leadership.js';
import { systemTiming } from '../system-timing.js';
import { definitionOf } from './definition.js';
import { LiveGroup } from './live-group.js';
import { Progress } from './progress.js';
import { ProjectionRunner } from './projection-runner.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

it('follows the log alone until it has reached the group, also when its source is caught up earlier', async () => {
  const [store, timing, progress] = [new InMemoryEventStore(), systemTiming, new Progress(systemTiming)];
  const leadership = new Leadership(database.sql, timing);
  const group = new LiveGroup({ sql: database.sql, store, progress, timing }, { categories: ['account'] });
  const others = { sql: database.sql, leadership, group, progress, timing, log: pino({ level: 'silent' }) };
  const ending = new AbortController();
  const runs: Promise<void>[] = [];
  const start = async (name: string, source: EventStore) => {
    const runner = new ProjectionRunner({ ...others, store: source }, await definitionOf(accounts(name)));
    runs.push(runner.run(ending.signal));
  };
  await start('accounts', store);
  const position = await append(store, 'account-a', opened('a'), moved('a', 5));
  await eventually(() => progress.hasReached(['accounts'], position));

  let follows = 0;
  let arrive = (): void => undefined;
  const arrival = new Promise<void>((resolve) => (arrive = resolve));
  const late = new (class extends InMemoryEventStore {
    /** Like a subscription that the server has not sent the newest events yet. */
    override async *followAll(...[after, filter, signal]: Parameters<EventStore['followAll']>): AsyncIterable<LogPage> {
      yield { events: [], position: after, caughtUp: ++follows < 100 };
      await arrival;
      yield* store.followAll(after, filter, signal);
    }
  })();
  await start('balances', late);
  await eventually(() => follows > 0);
  await timing.pause(50);
  expect(follows).toBe(1);
  arrive();
  await eventually(() => progress.hasReached(['balances'], position));
  expect(await database.sql`select cents::integer from balances.account`).toEqual([{ cents: 5 }]);
  ending.abort();
  await Promise.all(runs);
  await leadership.close();
});
