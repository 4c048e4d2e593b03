import { expect, it } from '@jest/globals';
import { newEvents } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { eventAt, StoreUnavailable } from './event-store.js';

it('finds the event with a revision, and nothing once its bounds hide it', async () => {
  const store = new InMemoryEventStore();
  await store.append('a-1', 'none', newEvents(3));
  expect(await eventAt(store, 'a-1', 1)).toMatchObject({ revision: 1 });
  await store.setRetention('a-1', { truncateBefore: 2 });
  expect(await eventAt(store, 'a-1', 1)).toBeUndefined();
  await store.setRetention('a-1', { truncateBefore: 3 });
  expect(await eventAt(store, 'a-1', 2)).toBeUndefined();
});

it('does not take an event for purged that reads do not show yet, as those of a leader that was replaced', async () => {
  const store = new InMemoryEventStore();
  await expect(eventAt(store, 'a-1', 1)).rejects.toBeInstanceOf(StoreUnavailable);
  await store.append('a-1', 'none', newEvents(1));
  await expect(eventAt(store, 'a-1', 1)).rejects.toBeInstanceOf(StoreUnavailable);
  await store.append('a-1', 0, newEvents(1));
  expect(await eventAt(store, 'a-1', 1)).toMatchObject({ revision: 1 });
});
