import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Following, newCategory, newEvent, newEvents, newStream, range } from '../../../../test/contracts/event-store.subject.js';
import { eventually } from '../../../../test/support/eventually.js';
import { NEVER_MS, PostgresStores } from '../../../../test/support/postgres-stores.js';

/** Poll interval of stores that must find events without a notification. */
const POLL_MS = 50;

let postgres: PostgresStores;
beforeAll(async () => {
  postgres = await PostgresStores.started();
});
afterEach(() => postgres.closeOthers());
afterAll(() => postgres.close());

it('delivers events of another process', async () => {
  const category = newCategory();
  const stream = newStream(category);
  const listening = await postgres.openAnother(NEVER_MS);
  const following = await new Following(listening, await postgres.store.head(), { categories: [category] }).until(
    ({ pages }) => pages.length > 0,
    'the present',
  );
  for (const revision of range(0, 9)) {
    await postgres.store.append(stream, revision === 0 ? 'none' : revision - 1, newEvents(1));
    await following.count(revision + 1);
  }
  await following.stop();
});

it('finds events without a notification by polling', async () => {
  const stream = newStream();
  const polling = await postgres.openAnother(POLL_MS);
  const following = new Following(polling, await postgres.store.head());
  await postgres.appendStatement(stream, 0, newEvent());
  await (await following.count(1)).stop();
});

it('polls and reads once for 1,000 followers', async () => {
  let asked = 0;
  const transactions = async () => {
    asked++;
    const [row] = await postgres.database.sql<{ commits: number }[]>`
      select xact_commit::integer as commits from pg_stat_database where datname = current_database()`;
    return row!.commits;
  };
  const before = await transactions();
  const begun = performance.now();
  const polling = await postgres.openAnother(POLL_MS);
  const category = newCategory();
  const stream = newStream(category);
  const after = await postgres.store.head();
  const followers = range(1, 1000).map(() => new Following(polling, after, { categories: [category] }));
  for (const follower of followers) await follower.until(({ pages }) => pages.length > 0, 'the present');
  for (const revision of range(0, 9)) {
    await postgres.appendStatement(stream, revision, newEvent());
    await Promise.all(followers.map((follower) => follower.count(revision + 1)));
  }
  await Promise.all(followers.map((follower) => follower.stop()));
  await polling.close();
  const pollsMax = (performance.now() - begun) / POLL_MS;
  // A connection may report its statistics only when it ends.
  await eventually(async () => (await transactions()) - before >= 20);
  expect((await transactions()) - before).toBeLessThan(200 + 2 * pollsMax + asked);
});
