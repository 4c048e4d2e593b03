import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { StoreUnavailable, WrongRevision } from '../../../kernel/event-store.js';
import { appendSurely } from '../../../kernel/streams.js';
import {
  eventually,
  eventsOf,
  Following,
  ids,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  range,
  readLog,
  revisions,
} from '../../../../test/contracts/event-store.subject.js';
import { EventStoreDbDouble } from '../../../../test/support/eventstoredb-double/event-store-db-double.js';
import { StoreRefused } from './errors.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';

const APPEND_DEADLINE_MS = 400;
const ANSWER_DEADLINE_MS = 400;
const SILENCE_MS = 700;

let double: EventStoreDbDouble;
let store: EventStoreDbEventStore;

const connect = (to: EventStoreDbDouble) =>
  new EventStoreDbEventStore({
    connectionString: to.connectionString,
    appendDeadlineMs: APPEND_DEADLINE_MS,
    answerDeadlineMs: ANSWER_DEADLINE_MS,
    silenceMs: SILENCE_MS,
  });

beforeEach(async () => {
  double = await EventStoreDbDouble.start();
  store = connect(double);
});

afterEach(async () => {
  await store.close();
  await double.close();
});

describe('an append', () => {
  it.each([
    ['is lost', { written: false, answer: 'nothing' }],
    ['is written and its answer lost', { written: true, answer: 'nothing' }],
    ['is written and the connection cut', { written: true, answer: 'disconnect' }],
    ['is not written and the connection cut', { written: false, answer: 'disconnect' }],
    ['is written and the call fails', { written: true, answer: 'unavailable' }],
    ['is written and answered with a timeout', { written: true, answer: 'timeout' }],
    ['is written and answered with something unknown', { written: true, answer: 'unknown' }],
    ['finds the server busy', { written: false, answer: 'busy' }],
  ] as const)('that %s has an unknown outcome, and takes effect once when it is repeated', async (_, fault) => {
    const stream = newStream();
    await store.append(stream, 'none', newEvents(1));
    const batch = newEvents(2);
    double.faults.nextAppends(1, fault);
    await expect(store.append(stream, 0, batch)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await appendSurely(store, stream, 0, batch)).toMatchObject({ revision: 2 });
    expect(revisions(await eventsOf(store.read(stream)))).toEqual([0, 1, 2]);
  });

  it('has an unknown outcome within its own deadline, whatever the server does', async () => {
    double.faults.onAppend = () => ({ written: false, answer: 'nothing' });
    const started = Date.now();
    await expect(store.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(Date.now() - started).toBeLessThan(APPEND_DEADLINE_MS + 1000);
  });

  it('that is never answered takes no other append with it', async () => {
    const [silent, ...others] = range(0, 20).map(() => newStream());
    double.faults.onAppend = (stream) => (stream === silent ? { written: false, answer: 'nothing' } : undefined);
    const lost = store.append(silent!, 'none', newEvents(1));
    const answers = await Promise.all(others.map((stream) => store.append(stream, 'none', newEvents(1))));
    expect(answers).toHaveLength(20);
    await expect(lost).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await store.append(newStream(), 'none', newEvents(1))).toMatchObject({ revision: 0 });
  });

  it('that is answered after its time disturbs nobody', async () => {
    double.faults.delayMs = 2 * APPEND_DEADLINE_MS;
    const stream = newStream();
    const batch = newEvents(1);
    await expect(store.append(stream, 'none', batch)).rejects.toBeInstanceOf(StoreUnavailable);
    double.faults.clear();
    expect(await appendSurely(store, stream, 'none', batch)).toMatchObject({ revision: 0 });
    await eventually(() => double.appendsSeen >= 2, 'both to arrive');
    expect(await eventsOf(store.read(stream))).toHaveLength(1);
  });

  it('of one store is untouched by the errors of another store in the process', async () => {
    const other = await EventStoreDbDouble.start();
    const neighbour = connect(other);
    try {
      other.faults.delayMs = 150;
      const waiting = neighbour.append(newStream(), 'none', newEvents(1));
      double.faults.nextAppends(1, { written: false, answer: 'unavailable' });
      await expect(store.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
      expect(await waiting).toMatchObject({ revision: 0 });
    } finally {
      await neighbour.close();
      await other.close();
    }
  });

  it.each([
    ['a revision below zero', newStream(), -1, [newEvent()]],
    ['half a revision', newStream(), 0.5, [newEvent()]],
    ['an id that is none', newStream(), 'none' as const, [newEvent({ id: 'x' })]],
    ['a stream without a name', '', 'none' as const, [newEvent()]],
  ])('with %s is refused before it can harm those on the same call', async (_, stream, expected, events) => {
    double.faults.delayMs = 50;
    const good = store.append(newStream(), 'none', newEvents(1));
    await expect(store.append(stream, expected, events)).rejects.toBeInstanceOf(RangeError);
    expect(await good).toMatchObject({ revision: 0 });
  });

  it('goes to the leader when this server no longer is', async () => {
    const leader = await EventStoreDbDouble.start();
    try {
      const stream = newStream();
      const batch = newEvents(1);
      await store.append(newStream(), 'none', newEvents(1));
      double.faults.leader = { host: '127.0.0.1', port: leader.port };
      double.dropConnections();
      expect(await appendSurely(store, stream, 'none', batch)).toMatchObject({ revision: 0 });
      expect(leader.log.visible(stream)).toHaveLength(1);
      expect(double.log.visible(stream)).toBeUndefined();
      expect(ids(await eventsOf(store.read(stream)))).toEqual(ids(batch));
    } finally {
      await leader.close();
    }
  });

  it.each([
    'esdb+discover://127.0.0.1:PORT?tls=false',
    'esdb://127.0.0.1:1,127.0.0.1:PORT?tls=false',
    'kurrentdb://127.0.0.1:PORT?tls=false',
  ])('finds its server by %s, also after it was away', async (address) => {
    const found = new EventStoreDbEventStore({ connectionString: address.replace('PORT', String(double.port)) });
    try {
      const stream = newStream();
      await found.append(stream, 'none', newEvents(1));
      await double.crash();
      await double.listen();
      await appendSurely(found, stream, 0, newEvents(1));
      expect(await eventsOf(found.read(stream))).toHaveLength(2);
    } finally {
      await found.close();
    }
  });

  it('takes effect exactly once while connections are cut all the time', async () => {
    const streams = range(1, 10).map(() => newStream());
    let busy = true;
    const cutting = (async () => {
      while (busy) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        double.dropConnections();
      }
    })();
    const batches = await Promise.all(streams.map((stream) => writeSurely(stream, 30)));
    busy = false;
    await cutting;
    for (const [index, stream] of streams.entries()) expect(ids(await eventsOf(store.read(stream)))).toEqual(batches[index]);
  });

  it('is refused as lost when somebody else took the revision in the meantime', async () => {
    const stream = newStream();
    double.faults.nextAppends(1, { written: false, answer: 'disconnect' });
    const mine = newEvents(1);
    await expect(store.append(stream, 'none', mine)).rejects.toBeInstanceOf(StoreUnavailable);
    await appendSurely(store, stream, 'none', newEvents(1));
    await expect(appendSurely(store, stream, 'none', mine)).rejects.toBeInstanceOf(WrongRevision);
  });
});

describe('a read', () => {
  it.each(['disconnect', 'unavailable', 'too-slow'] as const)('goes on where it was after a %s', async (then) => {
    const stream = newStream();
    await store.append(stream, 'none', newEvents(700));
    double.faults.nextReads(2, { after: 300, then });
    expect(revisions(await eventsOf(store.read(stream)))).toEqual(range(0, 699));
    double.faults.nextReads(2, { after: 300, then });
    expect(revisions(await eventsOf(store.read(stream, { direction: 'backwards', limit: 650 })))).toEqual(
      range(50, 699).reverse(),
    );
    double.faults.nextReads(2, { after: 300, then });
    expect(revisions((await readLog(store)).events)).toEqual(range(0, 699));
  });

  it('that is not answered fails within its own deadline', async () => {
    const stream = newStream();
    await store.append(stream, 'none', newEvents(100));
    double.faults.onRead = () => ({ after: 50, then: 'nothing' });
    const started = Date.now();
    await expect(eventsOf(store.read(stream))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(Date.now() - started).toBeLessThan(ANSWER_DEADLINE_MS + 1000);
    double.faults.clear();
    expect(await eventsOf(store.read(stream))).toHaveLength(100);
  });

  it('fails after a bounded number of attempts while the server is away', async () => {
    double.faults.unavailable = true;
    await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    await double.crash();
    await expect(eventsOf(store.read(newStream()))).rejects.toBeInstanceOf(StoreUnavailable);
    await double.listen();
    double.faults.clear();
    await store.ping();
  });
});

describe('a follower', () => {
  it('survives a cluster that cannot be found for a while, like everything else on the connection', async () => {
    const stream = newStream();
    const found = new EventStoreDbEventStore({
      connectionString: `esdb+discover://127.0.0.1:${double.port}?tls=false&maxDiscoverAttempts=3`,
      appendDeadlineMs: APPEND_DEADLINE_MS,
    });
    try {
      await found.append(stream, 'none', newEvents(1));
      const followers = range(1, 5).map(() => Following.stream(found, stream));
      for (const following of followers) await following.count(1);
      double.faults.nextAppends(1, { written: false, answer: 'nothing' });
      await expect(found.append(stream, 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
      double.refuseConnections();
      const searching = found.append(stream, 0, newEvents(1));
      double.dropConnections();
      await expect(searching).rejects.toBeInstanceOf(StoreUnavailable);
      await double.crash();
      await double.listen();
      await writeSurely(newStream(), 1, found);
      await appendSurely(found, stream, 0, newEvents(1));
      for (const following of followers) await (await following.count(2)).stop();
    } finally {
      await found.close();
    }
  });

  it('ends with the store that is closed', async () => {
    const following = Following.log(store, -1n);
    await following.until(({ pages }) => pages.length > 0, 'the present');
    await store.close();
    await expect(following.until(() => false, 'its end')).rejects.toBeInstanceOf(StoreRefused);
    await expect(store.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreRefused);
    await expect(store.ping()).rejects.toBeInstanceOf(StoreRefused);
  });

  const stages = ['disconnect', 'unavailable', 'too-slow', 'end', 'nothing'] as const;

  it.each(stages)('misses and repeats nothing when subscriptions go by way of "%s"', async (then) => {
    const category = newCategory();
    const stream = newStream(category);
    await store.append(stream, 'none', newEvents(50));
    let subscriptions = 0;
    double.faults.onRead = (_, subscription) =>
      subscription && subscriptions++ < 6 ? { after: 20 + subscriptions, then } : undefined;
    const following = Following.stream(store, stream);
    const log = Following.log(store, -1n, { categories: [category] });
    for (const revision of range(49, 98)) await appendSurely(store, stream, revision, newEvents(1));
    await following.count(100);
    await log.count(100);
    for (const each of [following, log]) expect(revisions((await each.stop()).events)).toEqual(range(0, 99));
    expect(subscriptions).toBeGreaterThan(2);
  });

  it('notices that a live subscription has fallen silent', async () => {
    const stream = newStream();
    await store.append(stream, 'none', newEvents(1));
    double.faults.nextReads(1, { after: 3, then: 'nothing' });
    const following = await Following.stream(store, stream).count(1);
    await store.append(stream, 0, newEvents(1));
    await following.count(2);
    expect(revisions((await following.stop()).events)).toEqual([0, 1]);
  });

  it('waits for a server that is away for seconds, and for one that only starts', async () => {
    const category = newCategory();
    const stream = newStream(category);
    await double.crash();
    const followers = [Following.stream(store, stream), Following.log(store, -1n, { categories: [category] })];
    await new Promise((resolve) => setTimeout(resolve, 1500));
    double.faults.unavailable = true;
    await double.listen();
    await new Promise((resolve) => setTimeout(resolve, 500));
    double.faults.clear();
    await appendSurely(store, stream, 'none', newEvents(3));
    for (const following of followers) {
      await following.count(3);
      expect(revisions((await following.stop()).events)).toEqual([0, 1, 2]);
    }
  });

  it('ends promptly when it is aborted while the server is away', async () => {
    await double.crash();
    const following = Following.stream(store, newStream());
    await new Promise((resolve) => setTimeout(resolve, 300));
    const started = Date.now();
    await following.stop();
    expect(Date.now() - started).toBeLessThan(200);
  });

  it('leaves nothing open when it goes', async () => {
    const stream = newStream();
    await store.append(stream, 'none', newEvents(5));
    const followers = range(1, 30).map(() => Following.stream(store, stream));
    for (const following of followers) await following.count(5);
    expect(double.readers).toBe(30);
    for (const following of followers) await following.stop();
    await eventually(() => double.readers === 0, 'the server to see them leave');
  });

  it('fails when it may not follow', async () => {
    const server = await EventStoreDbDouble.start();
    server.faults.refuse = 'access-denied';
    const denied = connect(server);
    try {
      const following = Following.stream(denied, newStream());
      await expect(following.count(1)).rejects.toBeInstanceOf(StoreRefused);
      await expect(denied.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreRefused);
    } finally {
      await denied.close();
      await server.close();
    }
  });
});

/** One event after another, each repeated until it is known to be written; answers their ids. */
async function writeSurely(stream: string, count: number, into = store): Promise<string[]> {
  const written: string[] = [];
  for (let index = 0; index < count; index++) {
    const batch = newEvents(1);
    for (let done = false; !done;) {
      done = await appendSurely(into, stream, index === 0 ? 'none' : index - 1, batch).then(
        () => true,
        (error: unknown) => {
          if (error instanceof StoreUnavailable) return false;
          throw error;
        },
      );
    }
    written.push(...ids(batch));
  }
  return written;
}
