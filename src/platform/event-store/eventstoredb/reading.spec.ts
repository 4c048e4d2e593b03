import { expect, it } from '@jest/globals';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import type { Connection } from './connection.js';
import { follow } from './reading.js';
import type { ReadRequest } from './stubs.js';

it('a follower that ends while it waits for a server that is away does not ask it once more', async () => {
  const leaving = new AbortController();
  let reads = 0;
  const away = {
    read: () => {
      // The first failure is repeated at once. After the second one the follower waits.
      if (++reads === 2) setImmediate(() => leaving.abort());
      return Promise.reject(new StoreUnavailable('The server is away.'));
    },
  };
  const cursor = { request: () => ({}) as ReadRequest, take: () => undefined };
  const patience = { answerMs: 5_000, silenceMs: 5_000 };
  for await (const _ of follow(away as unknown as Connection, cursor, patience, leaving.signal))
    throw new Error('It has no page.');
  expect(reads).toBe(2);
});
