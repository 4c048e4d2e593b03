import { beforeEach, describe, expect, it } from '@jest/globals';
import { newEvents } from '../../../../test/contracts/event-store.subject.js';
import { eventually } from '../../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import type { LogFilter, LogPage } from '../../../kernel/event-sourcing/event-store.js';
import { systemTiming } from '../../system-timing.js';
import { SharedFollow } from './shared-follow.js';
import { SHARED_EVENTS_MAX } from './shared-log.js';

let store: InMemoryEventStore;
/** The filters of the open subscriptions. */
let open: LogFilter[];
/** The filters of the followers. */
let own: Set<LogFilter>;
/** Selects the subscriptions that fail. */
let fails: (filter: LogFilter) => boolean;
let shared: SharedFollow;
let leaving: AbortController;

beforeEach(() => {
  store = new InMemoryEventStore();
  open = [];
  own = new Set();
  fails = () => false;
  leaving = new AbortController();
  shared = new SharedFollow(alone, systemTiming);
});

async function* alone(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogPage> {
  open.push(filter);
  try {
    for await (const page of store.followAll(after, filter, signal)) {
      if (fails(filter)) throw new Error('refused');
      yield page;
    }
  } finally {
    open.splice(open.indexOf(filter), 1);
  }
}

const lengths = new Map<string, number>();

/** Appends events to the end of a stream. */
async function write(stream: string, count = 1): Promise<void> {
  const before = lengths.get(stream) ?? 0;
  await store.append(stream, before === 0 ? 'none' : before - 1, newEvents(count));
  lengths.set(stream, before + count);
}
beforeEach(() => lengths.clear());

type Reading = { seen: string[]; position: bigint; caughtUp: boolean; over: Promise<void>; leave: () => void };

/** Starts a follower. It awaits `between` after each page, before it asks for the next. */
function following(filter: LogFilter, between = () => Promise.resolve(), after = -1n): Reading {
  own.add(filter);
  const left = new AbortController();
  const reading: Reading = { seen: [], position: after, caughtUp: false, over: Promise.resolve(), leave: () => left.abort() };
  reading.over = (async () => {
    for await (const { events, position, caughtUp } of shared.follow(
      after,
      filter,
      AbortSignal.any([left.signal, leaving.signal]),
    )) {
      expect(position >= reading.position).toBe(true);
      reading.seen.push(...events.map(({ stream, revision }) => `${stream}@${revision}`));
      reading.position = position;
      reading.caughtUp = caughtUp;
      await between();
    }
  })();
  return reading;
}

const all = { exceptCategories: ['message'] };
/** Waits until all followers use the shared subscription. */
const onlyShared = () => eventually(async () => (await write('tick-1'), open.length === 1 && !own.has(open[0]!)));

const expected = (...streams: string[]) =>
  streams.flatMap((stream) => Array.from({ length: lengths.get(stream) ?? 0 }, (_, revision) => `${stream}@${revision}`));

describe('followers of the log', () => {
  it('share one subscription once they are caught up', async () => {
    await write('a-1', 3);
    const readers = [following(all), following({ categories: ['a'] }), following({ categories: ['b'] })];
    await onlyShared();
    await write('a-1', 2);
    await write('message-1', 2);
    await write('b-1');
    await eventually(() => readers[1]!.seen.length === 5 && readers[2]!.seen.length === 1);
    expect(open).toEqual([all]);
    expect([readers[1]!.seen, readers[2]!.seen]).toEqual([expected('a-1'), expected('b-1')]);
    leaving.abort();
    await Promise.all(readers.map(({ over }) => over));
    await eventually(() => open.length === 0);
  });

  it('receive the position up to which the log was read, also without matching events', async () => {
    const reader = following({ categories: ['none'] });
    await onlyShared();
    const head = await store.head();
    await eventually(() => reader.position >= head);
    leaving.abort();
    await reader.over;
  });

  it('are told that they are caught up when they join the shared subscription at the end of the log', async () => {
    const first = following(all);
    await onlyShared();
    await eventually(async () => first.position === (await store.head()));
    const late = following({ categories: ['a'] }, undefined, first.position);
    await eventually(() => late.caughtUp);
    expect(open).toEqual([all]);
    leaving.abort();
    await Promise.all([first.over, late.over]);
  });

  it('get each event once and in order while other followers start, stop and fall behind', async () => {
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
    const readers = [following({ categories: ['a'] }), following({ categories: ['a'] }, slow)];
    await onlyShared();
    for (let round = 0; round < 30; round++) {
      await write('a-1', 50);
      await write('b-1', 100);
      const visitor = following(all);
      readers.push(following({ categories: ['a'] }));
      await new Promise((resolve) => setImmediate(resolve));
      visitor.leave();
      await visitor.over;
    }
    const wanted = expected('a-1');
    expect(wanted.length + lengths.get('b-1')!).toBeGreaterThan(SHARED_EVENTS_MAX);
    await eventually(() => readers.every(({ seen }) => seen.length >= wanted.length));
    for (const { seen } of readers) expect(seen).toEqual(wanted);
    leaving.abort();
    await Promise.all(readers.map(({ over }) => over));
  });

  it('use a separate subscription when they want frames', async () => {
    const reader = following({});
    await write('message-1', 2);
    await eventually(() => reader.seen.length === 2);
    expect(open).toEqual([{}]);
    leaving.abort();
    await reader.over;
  });

  it('all fail when their own subscriptions fail too', async () => {
    const readers = [following(all), following({ categories: ['tick'] })];
    await onlyShared();
    fails = () => true;
    await write('tick-1');
    for (const { over } of readers) await expect(over).rejects.toThrow('refused');
    expect(open).toEqual([]);
  });

  it('continue with separate subscriptions when only the shared one has failed', async () => {
    const reader = following({ categories: ['a'] });
    await onlyShared();
    fails = (filter) => !own.has(filter);
    await write('a-1');
    await eventually(() => open.some((filter) => own.has(filter)));
    await write('a-1', 2);
    await eventually(() => reader.seen.length === lengths.get('a-1'));
    expect(reader.seen).toEqual(expected('a-1'));
    leaving.abort();
    await reader.over;
  });
});
