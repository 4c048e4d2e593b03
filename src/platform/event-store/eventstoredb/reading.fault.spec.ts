import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';

import { LogDiffers, LogEndsEarlier, StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { appendSurely } from '../../../../test/support/append-surely.js';
import {
  eventsOf,
  eventually,
  Following,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  range,
  readLog,
  revisions,
} from '../../../../test/contracts/event-store.subject.js';
import { EventStoreDbDouble } from '../../../../test/support/eventstoredb-double/event-store-db-double.js';
import { connect, IMPATIENT, onDouble, writeSurely } from '../../../../test/support/eventstoredb-double/on-double.js';
import { retryWhile } from '../../../../test/support/retry-while.js';
import { StoreRefused } from './errors.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';
import { ANSWER_DEADLINE_MS, PING_DEADLINE_MS } from './limits.js';

const on = onDouble();

describe('a read', () => {
  it.each(['disconnect', 'unavailable', 'too-slow'] as const)('continues where it was after the fault "%s"', async (then) => {
    const stream = newStream();
    await on.store.append(stream, 'none', newEvents(700));
    on.double.faults.nextReads(2, { after: 300, then });
    expect(revisions(await eventsOf(on.store.read(stream)))).toEqual(range(0, 699));
    on.double.faults.nextReads(2, { after: 300, then });
    expect(revisions(await eventsOf(on.store.read(stream, { direction: 'backwards', limit: 650 })))).toEqual(
      range(50, 699).reverse(),
    );
    on.double.faults.nextReads(2, { after: 300, then });
    expect(revisions((await readLog(on.store)).events)).toEqual(range(0, 699));
  });

  it('continues where it was when the connection breaks while its reader handles a page', async () => {
    const stream = newStream();
    await on.store.append(stream, 'none', newEvents(20));
    on.double.faults.nextReads(1, { after: 5, then: 'nothing' });
    const answerDeadlineMs = 2_000;
    const store = connect(on.double, { ...IMPATIENT, answerDeadlineMs });
    const seen: number[] = [];
    try {
      for await (const page of store.read(stream)) {
        if (seen.length === 0) await sleep(2 * answerDeadlineMs);
        seen.push(...revisions(page));
        on.double.dropConnections();
      }
    } finally {
      await store.close();
    }
    expect(seen).toEqual(range(0, 19));
  });

  it('without a reply fails at its deadline', async () => {
    const stream = newStream();
    await on.store.append(stream, 'none', newEvents(100));
    on.double.faults.onRead = () => ({ after: 50, then: 'nothing' });
    await expect(eventsOf(on.impatient.read(stream))).rejects.toBeInstanceOf(StoreUnavailable);
    on.double.faults.clear();
    expect(await eventsOf(on.store.read(stream))).toHaveLength(100);
  });

  it('waits for a server that is away for a part of its deadline', async () => {
    const stream = newStream();
    await on.store.append(stream, 'none', newEvents(1));
    await on.double.crash();
    const reading = eventsOf(on.store.read(stream));
    reading.catch(() => undefined);
    await sleep(1_500);
    on.double.faults.unavailable = true;
    await on.double.listen();
    await sleep(500);
    on.double.faults.clear();
    expect(await reading).toHaveLength(1);
  });

  it('fails at its deadline while the server is unavailable', async () => {
    on.double.faults.unavailable = true;
    await expect(on.impatient.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    await on.double.crash();
    await expect(eventsOf(on.impatient.read(newStream()))).rejects.toBeInstanceOf(StoreUnavailable);
    await on.double.listen();
    on.double.faults.clear();
    await retryWhile(StoreUnavailable, () => on.impatient.ping());
  });

  it('of a ping that fails at once and is then not answered ends at the deadline of the first attempt', async () => {
    let reads = 0;
    on.double.faults.onRead = () => ({ after: 0, then: reads++ === 0 ? 'unavailable' : 'nothing' });
    await expect(on.store.ping()).rejects.toThrow(`EventStoreDB did not answer within ${PING_DEADLINE_MS} ms.`);
    expect(reads).toBeGreaterThan(1);
  });

  it('of a ping is not retried for the whole deadline, so that readiness has its reason in time', async () => {
    await on.double.crash();
    const since = performance.now();
    await expect(on.store.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    expect(performance.now() - since).toBeLessThan(ANSWER_DEADLINE_MS);
    await on.double.listen();
  });
});

describe('a follower', () => {
  it('survives a failed discovery of the cluster, like appends on the same connection', async () => {
    const category = newCategory();
    const stream = newStream(category);
    const found = new EventStoreDbEventStore({
      connectionString: `esdb+discover://127.0.0.1:${on.double.port}?tls=false`,
      ...IMPATIENT,
    });
    try {
      await appendSurely(found, stream, 'none', newEvents(1));
      const followers = range(1, 5).map(() => new Following(found, -1n, { categories: [category] }));
      for (const following of followers) await following.count(1);
      on.double.faults.nextAppends(1, { written: false, answer: 'nothing' });
      await expect(found.append(stream, 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
      on.double.refuseConnections();
      const searching = found.append(stream, 0, newEvents(1));
      on.double.dropConnections();
      await expect(searching).rejects.toBeInstanceOf(StoreUnavailable);
      await on.double.crash();
      await on.double.listen();
      await writeSurely(found, newStream(), 1);
      await appendSurely(found, stream, 0, newEvents(1));
      for (const following of followers) await (await following.count(2)).stop();
    } finally {
      await found.close();
    }
  });

  it('fails when its position is past the end of a log that was restored from a backup', async () => {
    await on.store.append(newStream(), 'none', newEvents(3));
    const following = new Following(on.store, -1n);
    await following.count(3);
    const { port } = on.double;
    await on.double.close();
    on.double = await EventStoreDbDouble.start({ port });
    await appendSurely(on.store, newStream(), 'none', newEvents(1));
    await expect(following.until(() => false, 'its end')).rejects.toBeInstanceOf(LogEndsEarlier);
    const beyond = new Following(on.store, (await on.store.head()) + 1n);
    await expect(beyond.until(() => false, 'its end')).rejects.toBeInstanceOf(LogEndsEarlier);
  });

  it('fails when a log that was restored from a backup has grown past its position with other events', async () => {
    const { position } = await on.store.append(newStream(), 'none', newEvents(3));
    const { port } = on.double;
    await on.double.close();
    on.double = await EventStoreDbDouble.start({ port });
    await appendSurely(on.store, newStream(), 'none', [newEvent({ data: '{"a":"longer event"}' }), ...newEvents(9)]);
    await expect(new Following(on.store, position).until(() => false, 'its end')).rejects.toBeInstanceOf(LogDiffers);
    await expect(readLog(on.store, position)).rejects.toBeInstanceOf(LogDiffers);
  });

  it('ends when its store is closed', async () => {
    const following = new Following(on.store, -1n);
    await following.until(({ pages }) => pages.length > 0, 'the present');
    await on.store.close();
    await expect(following.until(() => false, 'its end')).rejects.toBeInstanceOf(StoreRefused);
    await expect(on.store.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreRefused);
    await expect(on.store.ping()).rejects.toBeInstanceOf(StoreRefused);
  });

  const stages = ['disconnect', 'unavailable', 'too-slow', 'end', 'nothing'] as const;

  it.each(stages)('misses and repeats no event when its subscriptions end with the fault "%s"', async (then) => {
    const category = newCategory();
    const stream = newStream(category);
    await on.store.append(stream, 'none', newEvents(50));
    let subscriptions = 0;
    on.double.faults.onRead = (_, subscription) =>
      subscription && subscriptions++ < 6 ? { after: 20 + subscriptions, then } : undefined;
    const following = new Following(on.impatient, -1n, { categories: [category] });
    for (const revision of range(49, 98)) await appendSurely(on.store, stream, revision, newEvents(1));
    await following.count(100);
    expect(revisions((await following.stop()).events)).toEqual(range(0, 99));
    expect(subscriptions).toBeGreaterThan(2);
  });

  it('resubscribes when a live subscription has become silent', async () => {
    const stream = newStream();
    await on.store.append(stream, 'none', newEvents(1));
    let subscriptions = 0;
    on.double.faults.onRead = (_, subscription) =>
      subscription && subscriptions++ === 0 ? { after: 4, then: 'nothing' } : undefined;
    const following = await new Following(on.impatient, -1n).until(({ pages }) => pages.at(-1)?.caughtUp === true, 'the present');
    await on.store.append(stream, 0, newEvents(1));
    await following.count(2);
    expect(revisions((await following.stop()).events)).toEqual([0, 1]);
    expect(subscriptions).toBeGreaterThan(1);
  });

  it('waits for a server that is down for seconds and for one that is starting', async () => {
    const category = newCategory();
    const stream = newStream(category);
    await on.double.crash();
    const following = new Following(on.store, -1n, { categories: [category] });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    on.double.faults.unavailable = true;
    await on.double.listen();
    await new Promise((resolve) => setTimeout(resolve, 500));
    on.double.faults.clear();
    await appendSurely(on.store, stream, 'none', newEvents(3));
    await following.count(3);
    expect(revisions((await following.stop()).events)).toEqual([0, 1, 2]);
  });

  it('ends when it is aborted while the server is down', async () => {
    await on.double.crash();
    const following = new Following(on.store, -1n);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await following.stop();
  });

  it('closes its subscription when it stops', async () => {
    await on.store.append(newStream(), 'none', newEvents(5));
    const followers = range(1, 30).map(() => new Following(on.store, -1n));
    for (const following of followers) await following.count(5);
    expect(on.double.readers).toBe(30);
    for (const following of followers) await following.stop();
    await eventually(() => on.double.readers === 0, 'the server to see them leave');
  });

  it('fails when access is denied', async () => {
    const server = await EventStoreDbDouble.start();
    server.faults.refuse = 'access-denied';
    const denied = connect(server);
    try {
      const following = new Following(denied, -1n);
      await expect(following.count(1)).rejects.toBeInstanceOf(StoreRefused);
      await expect(denied.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreRefused);
    } finally {
      await denied.close();
      await server.close();
    }
  });
});
