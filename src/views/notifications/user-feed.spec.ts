import { expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { AwaySignals } from '../../../test/support/message-feeds.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import type { Signals } from '../../kernel/messaging/signals.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import { USER_EVENT, userStream } from './user.events.js';
import { UserFeed, userSubject } from './user-feed.js';

const stream = userStream('ann');

async function write(store: InMemoryEventStore, signals: Signals, revision: number): Promise<void> {
  const event = { id: newId(), type: USER_EVENT, data: '{}', metadata: '{}' };
  await store.append(stream, revision === 0 ? 'none' : revision - 1, [event]);
  signals.publish(userSubject(stream), String(revision));
}

function reading(feed: UserFeed, after = -1) {
  const leaving = new AbortController();
  const seen: number[] = [];
  const over = (async () => {
    for await (const page of feed.tail(stream, after, leaving.signal)) seen.push(...page.map(({ revision }) => revision));
  })();
  return { seen, leave: () => (leaving.abort(), over) };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

it('returns past and then live events, each once and in order, during concurrent writes', async () => {
  const store = new InMemoryEventStore();
  const signals = new InProcessSignals();
  const feed = new UserFeed(store, signals, systemTiming);
  const readers: ReturnType<typeof reading>[] = [];
  for (let revision = 0; revision < 500; revision++) {
    if (revision % 50 === 0) readers.push(reading(feed));
    await write(store, signals, revision);
    if (revision % 7 === 0) await pause(0);
  }
  await eventually(() => readers.every(({ seen }) => seen.length >= 500));
  for (const { seen, leave } of readers) {
    await leave();
    expect(seen).toEqual(upTo(500));
  }
  expect(signals.subjects).toBe(0);
});

it('polls while there are no signals', async () => {
  const store = new InMemoryEventStore();
  const signals = new AwaySignals();
  const reader = reading(new UserFeed(store, signals, systemTiming));
  await write(store, signals, 0);
  await eventually(() => reader.seen.length === 1);
  await pause(5);
  await write(store, signals, 1);
  await eventually(() => reader.seen.length === 2);
  await reader.leave();
});

it('continues after an outage of the store', async () => {
  const store = new (class extends InMemoryEventStore {
    away = true;
    override async *read(...args: Parameters<InMemoryEventStore['read']>) {
      if (this.away) throw new StoreUnavailable('away');
      yield* super.read(...args);
    }
  })();
  const signals = new InProcessSignals();
  const reader = reading(new UserFeed(store, signals, systemTiming));
  await write(store, signals, 0);
  store.away = false;
  await eventually(() => reader.seen.length === 1);
  await reader.leave();
});

it('has no subscriptions left after 10,000 readers', async () => {
  const store = new InMemoryEventStore();
  const signals = new InProcessSignals();
  const feed = new UserFeed(store, signals, systemTiming);
  await write(store, signals, 0);
  for (let batch = 0; batch < 100; batch++) {
    const readers = Array.from({ length: 100 }, () => reading(feed));
    await pause(0);
    await Promise.all(readers.map(({ leave }) => leave()));
  }
  expect(signals.subjects).toBe(0);
});
