import { describe, expect, it } from '@jest/globals';
import { appendSurely } from '../../../test/support/append-surely.js';
import { CountedReads } from '../../../test/support/counted-reads.js';
import { because, cause, count, type Counted, counter } from '../../../test/support/counter-stream.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { eventsOf } from '../../../test/support/turns.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { systemTiming } from '../../platform/system-timing.js';
import { Rejection } from '../rejection.js';
import { type ExpectedRevision, type NewEvent, StoreUnavailable } from './event-store.js';
import type { Event } from './events.js';
import { RECENT_FOLDS_MAX } from './recent-folds.js';
import { type Aggregate, type Folded, isAtLeast, nothingYet, Streams } from './streams.js';

it('continues a fold where an earlier one ended', async () => {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  const none = await streams.fold('counter-1', counter);
  await streams.transact('counter-1', counter, count(1), cause);
  const first = await streams.fold('counter-1', counter, none);
  await streams.transact('counter-1', counter, count(2), because('r2'));
  const second = await streams.fold('counter-1', counter, first);
  expect([none.state, first.state, second.state]).toEqual([0, 1, 3]);
  expect(second).toEqual(await streams.fold('counter-1', counter));
  expect(await streams.fold('counter-1', counter, second)).toEqual(second);
});

it('folds the beginning of a stream from its first events only', async () => {
  const store = new CountedReads();
  const streams = new Streams(store, systemTiming);
  expect((await streams.beginning('counter-1', counter, 2)).state).toBe(0);
  for (const by of [1, 2, 4]) await streams.transact('counter-1', counter, count(by), because(`r${by}`));
  store.events = 0;
  expect([(await streams.beginning('counter-1', counter, 2)).state, store.events]).toEqual([3, 2]);
});

describe('a stream with snapshots', () => {
  type SnapshotTaken = Event<'SnapshotTaken', { sum: number }>;
  const WITHIN_EVENTS_MAX = 5;
  const counted: Aggregate<number, Counted | SnapshotTaken> = {
    initial: 0,
    evolve: (sum, { type, data }) => (type === 'SnapshotTaken' ? data.sum : sum + data.by),
    codec: { Counted: [], SnapshotTaken: [] },
    snapshot: { type: 'SnapshotTaken', withinMax: WITHIN_EVENTS_MAX },
  };
  /** A sum that is wrong if the events before the snapshot are counted too. */
  const made = async (before: number, after: number) => {
    const store = new CountedReads();
    const streams = new Streams(store, systemTiming);
    const add = (by: number, place: string) => streams.transact('counter-1', counted, count(by), because(place));
    for (let index = 0; index < before; index++) await add(1, `before-${index}`);
    const snapshot: SnapshotTaken = { type: 'SnapshotTaken', data: { sum: 100 } };
    let appended = await streams.transact('counter-1', counted, () => [snapshot], because('restated'));
    for (let index = 0; index < after; index++) appended = await add(1, `after-${index}`);
    store.events = 0;
    return { store, appended, folded: await streams.fold('counter-1', counted) };
  };

  it('is read from the newest snapshot', async () => {
    const { store, folded } = await made(30, 3);
    expect([folded.state, folded.revision, store.events <= WITHIN_EVENTS_MAX]).toEqual([103, 33, true]);
  });

  it('is read whole if the newest snapshot is too far back', async () => {
    const { folded } = await made(30, WITHIN_EVENTS_MAX);
    expect([folded.state, folded.revision]).toEqual([100 + WITHIN_EVENTS_MAX, 30 + WITHIN_EVENTS_MAX]);
  });

  it.each([3, WITHIN_EVENTS_MAX])('has the size of the events since the newest snapshot: that and %d more', async (after) => {
    const { appended, folded } = await made(30, after);
    const size = '{"sum":100}'.length + after * '{"by":1}'.length;
    expect([appended.characters, folded.characters]).toEqual([size, size]);
  });

  it('may have no snapshot and no event', async () => {
    const streams = new Streams(new InMemoryEventStore(), systemTiming);
    expect(await streams.fold('counter-1', counted)).toEqual(nothingYet(counted));
    await streams.transact('counter-1', counted, count(2), cause);
    expect((await streams.fold('counter-1', counted)).state).toBe(2);
  });
});

describe('a transaction', () => {
  it('decides on the folded state and appends the events with their cause', async () => {
    const store = new InMemoryEventStore();
    const streams = new Streams(store, systemTiming);
    await streams.transact('counter-1', counter, count(1), cause);
    const { state, events } = await streams.transact('counter-1', counter, (sum) => (sum === 1 ? count(2)() : []), because('r2'));
    expect([state, events]).toEqual([3, count(2)()]);
    const [first] = await eventsOf(store, 'counter-1');
    expect(JSON.parse(first!.metadata)).toEqual({
      $correlationId: 'r1',
      $causationId: 'r1',
      actor: 'user:alice',
      credential: 'session-token',
      version: 1,
    });
  });

  it('continues a stream whose events were all removed', async () => {
    const store = new InMemoryEventStore();
    const streams = new Streams(store, systemTiming);
    await streams.transact('counter-1', counter, count(1), cause);
    await streams.transact('counter-1', counter, count(1), because('r2'));
    await store.setRetention('counter-1', { truncateBefore: 2 });
    const other = new Streams(store, systemTiming);
    const { state, revision } = await other.transact('counter-1', counter, count(5), because('r3'));
    expect([state, revision]).toEqual([5, 2]);
    expect((await streams.fold('counter-1', counter)).state).toBe(5);
  });

  it('reads nothing if the caller passes the current state, and only the rest if it passes an older one', async () => {
    const store = new InMemoryEventStore();
    const reads: number[] = [];
    const read = store.read.bind(store);
    store.read = (stream, options) => (reads.push(options?.from ?? 0), read(stream, options));
    const streams = new Streams(store, systemTiming);
    const first = await streams.transact('counter-1', counter, count(1), cause, nothingYet(counter));
    const second = await streams.transact('counter-1', counter, count(2), because('r2'), first);
    expect([second.state, second.revision, reads]).toEqual([3, 1, []]);
    const third = await streams.transact('counter-1', counter, count(4), because('r3'), first);
    expect([third.state, third.revision, reads]).toEqual([7, 2, [1]]);
  });

  it('appends once even if the answer was lost', async () => {
    const store = new InMemoryEventStore();
    store.failNextAppend('after');
    await new Streams(store, systemTiming).transact('counter-1', counter, count(1), cause);
    expect(await eventsOf(store, 'counter-1')).toHaveLength(1);
  });

  it('never decides on stale state after a lost race, however late reads show the winner', async () => {
    const timing = new VirtualTiming();
    const store = new InMemoryEventStore(undefined, () => timing.pause(300));
    const once = (sum: number) => (sum === 0 ? count(1)() : []);
    const creations = Array.from({ length: 8 }, (_, index) =>
      new Streams(store, timing).transact('counter-1', counter, once, because(`r${index}`)),
    );
    const created = (await Promise.all(creations)).filter(({ events }) => events.length > 0);
    expect([created.length, (await eventsOf(store, 'counter-1')).length]).toEqual([1, 1]);
  });

  it('appends after removed events of a stream whose earlier state it has', async () => {
    const store = new InMemoryEventStore();
    const [one, other] = [new Streams(store, systemTiming), new Streams(store, systemTiming)];
    const known = await one.transact('counter-1', counter, count(1), cause);
    await other.transact('counter-1', counter, count(1), because('r2'));
    await store.setRetention('counter-1', { truncateBefore: 2 });
    expect((await one.transact('counter-1', counter, count(1), because('r3'), known)).revision).toBe(2);
  });

  it('appends nothing if nothing has to change', async () => {
    const store = new InMemoryEventStore();
    expect(await new Streams(store, systemTiming).transact('counter-1', counter, () => [], cause)).toMatchObject({
      events: [],
      position: undefined,
    });
  });

  it('fails on an event that a newer version of the program wrote', async () => {
    const store = new InMemoryEventStore();
    await store.append('counter-1', 'none', [{ id: '1', type: 'Recounted', data: '{}', metadata: '{}' }]);
    await expect(new Streams(store, systemTiming).transact('counter-1', counter, count(1), cause)).rejects.toMatchObject({
      name: 'Undecodable',
    });
  });
});

describe('an append that must be made', () => {
  class AwayStore extends InMemoryEventStore {
    attempts = 0;
    constructor(private readonly failures: number) {
      super();
    }
    override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
      if (this.attempts++ < this.failures) throw new StoreUnavailable('away');
      return super.append(stream, expected, events);
    }
  }
  const event = { id: '1', type: 'Counted', data: '{"by":1}', metadata: '{}' };

  it('is repeated while the store is unavailable', async () => {
    const store = new AwayStore(3);
    await appendSurely(store, 'counter-1', 'none', [event]);
    expect(store.attempts).toBe(4);
  });

  it('is given up after the patience', async () => {
    await expect(appendSurely(new AwayStore(Infinity), 'counter-1', 'none', [event], 100)).rejects.toThrow(StoreUnavailable);
  });
});

describe('idempotent work', () => {
  const work = (failures: number, error: Error) => {
    let attempts = 0;
    return async () => {
      if (attempts++ < failures) throw error;
      return attempts;
    };
  };
  const away = new StoreUnavailable('away');

  it('is repeated with growing pauses until the store is back', async () => {
    const timing = new VirtualTiming();
    expect(await new Streams(new InMemoryEventStore(), timing).retryWhileUnavailable(60_000, work(7, away))).toBe(8);
    expect(timing.pauses).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
  });

  it('is given up after the patience, and at once after another error', async () => {
    const timing = new VirtualTiming();
    const streams = new Streams(new InMemoryEventStore(), timing);
    await expect(streams.retryWhileUnavailable(60_000, work(Infinity, away))).rejects.toBe(away);
    expect(timing.elapsedMs()).toBeGreaterThan(59_000);
    expect(timing.elapsedMs()).toBeLessThanOrEqual(60_000);
    const stop = new AbortController();
    const once = work(1, away);
    const stopped = streams.retryWhileUnavailable(60_000, () => (stop.abort(), once()), stop.signal);
    await expect(stopped).rejects.toBe(away);
    const bug = new Error('bug');
    const before = timing.pauses.length;
    await expect(streams.retryWhileUnavailable(60_000, work(1, bug))).rejects.toBe(bug);
    expect(timing.pauses).toHaveLength(before);
  });
});

describe('a stream that this process has just appended to', () => {
  const upTo =
    (most: number) =>
    (sum: number): readonly Counted[] => {
      if (sum > most) throw new Rejection('too-much', `${sum} is more than ${most}.`);
      return sum === most ? [] : count(1)();
    };

  /** Two processes on one store; the first has counted to 1. */
  async function twoProcesses() {
    const store = new CountedReads();
    const [here, elsewhere] = [new Streams(store, systemTiming), new Streams(store, systemTiming)];
    await here.transact('counter-1', counter, count(1), cause);
    store.reads = 0;
    return { store, here, elsewhere };
  }

  const from = (revision: number) => (known: Folded<number>) => isAtLeast(known.revision, revision);

  it('is not read for the next decision', async () => {
    const { store, here } = await twoProcesses();
    const { state, revision } = await here.transact('counter-1', counter, count(2), because('r2'));
    expect([state, revision, store.reads]).toEqual([3, 1, 0]);
    expect([(await here.foldSuch('counter-1', counter, from(1))).state, store.reads]).toEqual([3, 0]);
  });

  it('is read after another process has appended and the append has lost', async () => {
    const { here, elsewhere } = await twoProcesses();
    await elsewhere.transact('counter-1', counter, count(10), because('r2'));
    expect(await here.transact('counter-1', counter, count(2), because('r3'))).toMatchObject({ state: 13, revision: 2 });
  });

  it('is read before an empty decision or a refusal is accepted', async () => {
    const { store, here, elsewhere } = await twoProcesses();
    expect(await here.transact('counter-1', counter, upTo(1), because('r2'))).toMatchObject({ events: [], state: 1 });
    expect(store.reads).toBe(1);
    await elsewhere.transact('counter-1', counter, count(-1), because('r3'));
    expect(await here.transact('counter-1', counter, upTo(1), because('r4'))).toMatchObject({ state: 1, revision: 2 });
    await elsewhere.transact('counter-1', counter, count(-1), because('r5'));
    expect(await here.transact('counter-1', counter, upTo(0), because('r6'))).toMatchObject({ events: [], state: 0 });
    await expect(here.transact('counter-1', counter, upTo(-1), because('r7'))).rejects.toThrow('0 is more than -1.');
  });

  it('is continued by a read with the events that another process has appended', async () => {
    const { store, here, elsewhere } = await twoProcesses();
    await elsewhere.transact('counter-1', counter, count(10), because('r2'));
    store.events = 0;
    expect([(await here.foldOnwards('counter-1', counter)).state, store.events]).toEqual([11, 1]);
    expect([(await here.foldOnwards('counter-1', counter)).state, store.events]).toEqual([11, 1]);
    expect([await elsewhere.foldOnwards('counter-1', counter), store.events]).toMatchObject([{ state: 11, revision: 1 }, 1]);
  });

  it('is not displaced by reads of streams that do not exist', async () => {
    const { store, here } = await twoProcesses();
    for (let n = 0; n <= RECENT_FOLDS_MAX; n++) await here.foldOnwards(`counter-missing-${n}`, counter);
    store.events = 0;
    expect([(await here.foldOnwards('counter-1', counter)).state, store.events]).toEqual([1, 0]);
  });

  it('is read if the cached state does not suffice', async () => {
    const { store, here, elsewhere } = await twoProcesses();
    await elsewhere.transact('counter-1', counter, count(10), because('r2'));
    store.reads = 0;
    expect((await here.foldSuch('counter-1', counter, from(0))).state).toBe(1);
    expect((await here.foldSuch('counter-1', counter, from(1))).state).toBe(11);
    expect(store.reads).toBe(1);
  });
});
