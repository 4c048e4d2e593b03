import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import type { Connection } from './connection.js';
import { SCAN_PINGS_MAX } from './limits.js';
import { LogRead } from './log-cursor.js';
import { follow, readToEnd } from './reading.js';
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

/** Reads a log in whose filtered part the server finds no event. `head` answers requests for the end of the log. */
async function scanned(head: (end: () => void) => Promise<bigint>): Promise<bigint | undefined> {
  const nothing = () => undefined;
  const call = Object.assign(new EventEmitter(), { cancel: nothing, pause: nothing, resume: nothing });
  const connection = {
    read: () => Promise.resolve({ call, giveUp: nothing }),
    explained: (error: unknown) => Promise.resolve(error),
  };
  const cursor = new LogRead(-1n, {}, Infinity, () => head(() => call.emit('end')));
  // Without time for retries, because a timer may be early by a fraction of a millisecond.
  for await (const _ of readToEnd(connection as unknown as Connection, cursor, 5, 0)) throw new Error('It has no page.');
  return cursor.end()?.position;
}

it('a read of the log continues while the server scans it without a match, as long as the server answers', async () => {
  let asked = 0;
  const position = await scanned((end) => {
    if (++asked === 4) setImmediate(end);
    return Promise.resolve(7n);
  });
  expect([position, asked]).toEqual([7n, 4]);
});

it('a read of the log fails if the server sends nothing and does not answer either', async () => {
  let asked = 0;
  const away = () => Promise.reject(new StoreUnavailable('The server is away.'));
  await expect(scanned(() => (++asked === 1 ? Promise.resolve(7n) : away()))).rejects.toThrow('The server is away.');
  expect(asked).toBe(2);
});

it('a read of the log fails if the server answers and sends nothing for too long', async () => {
  let asked = 0;
  await expect(scanned(() => Promise.resolve(BigInt(++asked)))).rejects.toBeInstanceOf(StoreUnavailable);
  expect(asked).toBe(1 + SCAN_PINGS_MAX);
});
