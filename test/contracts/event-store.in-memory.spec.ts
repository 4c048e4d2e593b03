import { describe, expect, it } from '@jest/globals';

import { LOG_START, StoreUnavailable } from '../../src/kernel/event-sourcing/event-store.js';
import { SoleWriterEventStore } from '../../src/platform/event-store/sole-writer-event-store.js';
import { InMemoryEventStore } from '../support/in-memory-event-store.js';
import { eventStoreContract } from './event-store.contract.js';
import { eventsOf, newEvents, newStream, readLog } from './event-store.subject.js';

eventStoreContract('InMemoryEventStore', {
  open: async () => {
    const store = new InMemoryEventStore();
    return { store, close: async () => {}, bury: async (stream) => store.bury(stream) };
  },
  can: { bury: true },
});

eventStoreContract('SoleWriterEventStore', {
  open: async () => {
    const store = new InMemoryEventStore();
    return { store: new SoleWriterEventStore(store), close: async () => {}, bury: async (stream) => store.bury(stream) };
  },
  can: { bury: true },
});

describe('InMemoryEventStore', () => {
  it('reports the start of the log as its head while it is empty', async () => {
    const store = new InMemoryEventStore();
    expect(await store.head()).toBe(LOG_START);
    expect((await readLog(store)).pages).toEqual([{ events: [], position: LOG_START, caughtUp: true }]);
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('can lose the outcome of an append %s it is written', async (when, written) => {
    const store = new InMemoryEventStore();
    const stream = newStream();
    const batch = newEvents(1);
    store.failNextAppend(when);
    await expect(store.append(stream, 'none', batch)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await eventsOf(store.read(stream))).toHaveLength(written);
    expect(await store.append(stream, 'none', batch)).toMatchObject({ revision: 0 });
  });

  it('loses uncommitted appends as a whole at a change of leader, newest first, and accepts them again', async () => {
    let commit = () => {};
    const committing = new Promise<void>((resolve) => (commit = resolve));
    const store = new InMemoryEventStore(undefined, () => committing);
    const stream = newStream();
    const [kept, lost] = [newEvents(2), newEvents(2)];
    const first = store.append(stream, 'none', kept);
    const second = store.append(stream, 1, lost);
    expect(store.uncommitted).toHaveLength(2);
    expect(store.loseAccepted(1)).toBe(2);
    commit();
    expect(await first).toMatchObject({ revision: 1 });
    await expect(second).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await eventsOf(store.read(stream))).toHaveLength(2);
    expect(await store.append(stream, 1, lost)).toMatchObject({ revision: 3 });
  });
});
