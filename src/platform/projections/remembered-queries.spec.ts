import { expect, it } from '@jest/globals';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { Progress } from './progress.js';
import { REMEMBERED_CHARACTERS_MAX, REMEMBERED_MS, REMEMBERED_QUERIES_MAX, RememberedQueries } from './remembered-queries.js';

/** A read model with one row that the test changes, and the number of its queries. */
async function readModel() {
  const timing = new VirtualTiming();
  // The cache cannot compute an age from the time 0.
  await timing.pause(1);
  const progress = new Progress(timing);
  const queries = new RememberedQueries(progress, timing);
  const rows = { value: 'old' as string | undefined, asked: 0 };
  const ask = (key = 'one', until?: Promise<void>) =>
    queries.answer('tools', key, async () => {
      rows.asked++;
      const { value } = rows;
      await until;
      return value;
    });
  return { timing, progress, rows, ask };
}

it('queries a read model that this process writes once per change', async () => {
  const { progress, rows, ask } = await readModel();
  progress.wrote('tools', 1n);
  expect([await ask(), await ask(), rows.asked]).toEqual(['old', 'old', 1]);
  progress.wrote('tools', 2n, false);
  expect([await ask(), await ask('two'), rows.asked]).toEqual(['old', 'old', 2]);
  rows.value = undefined;
  progress.wrote('tools', 3n);
  expect([await ask(), await ask(), rows.asked]).toEqual([undefined, undefined, 3]);
});

it('queries again after a change that happened during the query', async () => {
  const { progress, rows, ask } = await readModel();
  progress.wrote('tools', 1n);
  let tell = (): void => undefined;
  const asking = ask('one', new Promise<void>((resolve) => (tell = resolve)));
  rows.value = 'new';
  progress.wrote('tools', 2n);
  tell();
  expect([await asking, await ask()]).toEqual(['old', 'new']);
});

it('queries again for a caller that finds its write in the checkpoint before the answer to the commit has arrived', async () => {
  const { progress, rows, ask } = await readModel();
  progress.wrote('tools', 1n);
  await ask();
  rows.value = 'new';
  progress.seen('tools', 2n);
  expect([await ask(), await ask(), rows.asked]).toEqual(['new', 'new', 2]);
  progress.seen('tools', 2n);
  expect([await ask(), rows.asked]).toEqual(['new', 2]);
});

it('caches no result that another process may change, and others for at most REMEMBERED_MS', async () => {
  const { timing, progress, rows, ask } = await readModel();
  await ask();
  await ask();
  expect(rows.asked).toBe(2);
  progress.wrote('tools', 1n);
  await ask();
  await timing.pause(REMEMBERED_MS + 1);
  await ask();
  expect(rows.asked).toBe(4);
  progress.handedOver('tools');
  await ask();
  expect(rows.asked).toBe(5);
  rows.value = 'written by another';
  progress.wrote('tools', 1n, false);
  expect([await ask(), rows.asked]).toEqual(['written by another', 6]);
});

it('drops the least recently used entry when it is full', async () => {
  const { progress, rows, ask } = await readModel();
  progress.wrote('tools', 1n);
  for (let key = 0; key <= REMEMBERED_QUERIES_MAX; key++) await ask(String(key));
  await ask(String(REMEMBERED_QUERIES_MAX));
  expect(rows.asked).toBe(REMEMBERED_QUERIES_MAX + 1);
  await ask('0');
  expect(rows.asked).toBe(REMEMBERED_QUERIES_MAX + 2);
});

it('holds rendered results up to a total size', async () => {
  const { progress, rows, ask } = await readModel();
  progress.wrote('tools', 1n);
  rows.value = 'x'.repeat(REMEMBERED_CHARACTERS_MAX / 2);
  for (const key of ['a', 'b']) await ask(key);
  await ask('b');
  expect(rows.asked).toBe(2);
  await ask('c');
  await ask('a');
  expect(rows.asked).toBe(4);
  rows.value += rows.value;
  progress.wrote('tools', 2n);
  expect([await ask(), await ask(), rows.asked]).toEqual([rows.value, rows.value, 6]);
});
