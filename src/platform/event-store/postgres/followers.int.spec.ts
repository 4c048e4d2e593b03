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

it('delivers events of another process to followers of a stream and of the log', async () => {
  const category = newCategory();
  const stream = newStream(category);
  const listening = await postgres.openAnother(NEVER_MS);
  const ofStream = Following.stream(listening, stream);
  const ofLog = await Following.log(listening, await postgres.store.head(), { categories: [category] }).until(
    ({ pages }) => pages.length > 0,
    'the present',
  );
  for (const revision of range(0, 9)) {
    await postgres.store.append(stream, revision === 0 ? 'none' : revision - 1, newEvents(1));
    await ofStream.count(revision + 1);
    await ofLog.count(revision + 1);
  }
  await Promise.all([ofStream.stop(), ofLog.stop()]);
});

it('delivers events of more streams than one notification can name', async () => {
  const category = newCategory();
  const streams = range(1, 300).map(() => newStream(category));
  const listening = await postgres.openAnother(NEVER_MS);
  const following = streams.map((stream) => Following.stream(listening, stream));
  await Promise.all(streams.map((stream) => postgres.store.append(stream, 'none', newEvents(1))));
  for (const follower of following) await (await follower.count(1)).stop();
});

it('finds events without a notification by polling', async () => {
  const stream = newStream();
  const polling = await postgres.openAnother(POLL_MS);
  const ofStream = Following.stream(polling, stream);
  const ofLog = Following.log(polling, await postgres.store.head());
  await postgres.appendStatement(stream, 0, newEvent());
  await (await ofStream.count(1)).stop();
  await (await ofLog.count(1)).stop();
});

it('polls once for all followers, including 1,000 idle ones', async () => {
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
  const idle = range(1, 1000).map(() => Following.stream(polling, newStream()));
  const stream = newStream();
  const late = Following.stream(polling, stream);
  for (const revision of range(0, 9)) {
    await postgres.appendStatement(stream, revision, newEvent());
    await late.count(revision + 1);
  }
  await Promise.all([...idle, late].map((follower) => follower.stop()));
  // A connection may report its statistics only when it ends.
  await polling.close();
  const pollsMax = (performance.now() - begun) / POLL_MS;
  await eventually(async () => (await transactions()) - before >= 1000);
  expect((await transactions()) - before).toBeLessThan(1200 + 2 * pollsMax + asked);
});
