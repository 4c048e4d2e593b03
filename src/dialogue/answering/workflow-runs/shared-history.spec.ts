import { expect, it } from '@jest/globals';
import { sharedHistory } from './shared-history.js';

it('the shared history is read once, and each node gets the newest exchanges that fit its limit', async () => {
  let reads = 0;
  const all = ['one', 'two', 'six'].map((prompt) => ({ prompt, response: 'abc' }));
  const history = sharedHistory(async () => (reads++, all));
  expect(await history(100)).toEqual(all);
  expect(await history(17)).toEqual(all.slice(1));
  expect(await history(6)).toEqual(all.slice(2));
  expect(await history(5)).toEqual([]);
  expect(reads).toBe(1);
});
