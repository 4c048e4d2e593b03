import { beforeEach, describe, expect, it } from '@jest/globals';
import { newEvents } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { EventStore, LogEndsEarlier, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { GatedEventStore } from './gated-event-store.js';
import { FAILURE_COUNTS_MS, WholeLogEventStore } from './whole-log-event-store.js';

let restored: InMemoryEventStore;
let store: WholeLogEventStore;
let elapsedMs: number;
let place: bigint;

beforeEach(async () => {
  const before = new InMemoryEventStore();
  ({ position: place } = await before.append('a-1', 'none', newEvents(5)));
  restored = new InMemoryEventStore();
  await restored.append('a-1', 'none', newEvents(1));
  elapsedMs = 0;
  store = new WholeLogEventStore(restored, { elapsedMs: () => elapsedMs });
});

const follow = async (after: bigint) => {
  for await (const _ of store.followAll(after, {}, new AbortController().signal)) return;
};

describe('a log that was restored to a state before the place of a follower', () => {
  beforeEach(() => expect(follow(place)).rejects.toBeInstanceOf(LogEndsEarlier));

  it('takes no append and no bounds, also after another follower has found its own place', async () => {
    await follow(-1n);
    await expect(store.append('a-1', 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.appendWithin({ maxCount: 1 }, 'a-1', 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.setRetention('a-1', { maxCount: 1 })).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await restored.lastRevision('a-1')).toBe(0);
  });

  it('takes appends again once it has the place, as when a leader had only not shown it yet', async () => {
    await restored.append('a-1', 0, newEvents(4));
    expect(await store.append('a-1', 4, newEvents(1))).toMatchObject({ revision: 5 });
  });

  it('takes appends again when no follower fails any more, as after a rebuild', async () => {
    elapsedMs = FAILURE_COUNTS_MS;
    expect(await store.append('a-1', 0, newEvents(1))).toMatchObject({ revision: 1 });
  });
});

it('a log with the places of all followers takes appends', async () => {
  await follow(-1n);
  expect(await store.append('a-1', 0, newEvents(1))).toMatchObject({ revision: 1 });
});

it.each([GatedEventStore, WholeLogEventStore])('%p forwards also the calls for which a store has a default', ({ prototype }) => {
  expect(Object.getOwnPropertyNames(prototype)).toEqual(expect.arrayContaining(Object.getOwnPropertyNames(EventStore.prototype)));
});
