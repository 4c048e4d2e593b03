import { beforeEach, describe, expect, it } from '@jest/globals';
import { newEvents } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { EventStore, LOG_START, LogDiffers, LogEndsEarlier, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { ForwardingEventStore } from './forwarding-event-store.js';
import { GatedEventStore } from './gated-event-store.js';
import { COMPARED_EVERY_MS, WholeLogEventStore } from './whole-log-event-store.js';

let restored: InMemoryEventStore;
let store: WholeLogEventStore;
/** The furthest place of a follower, which may run in another process. */
let furthest: bigint;
let asked: number;
/** How often the store has reported that the followers were taken back. */
let takenBack: number;
/** A place that the restored log does not reach. */
let lost: bigint;

beforeEach(async () => {
  const before = new InMemoryEventStore();
  ({ position: lost } = await before.append('a-1', 'none', newEvents(5)));
  restored = new InMemoryEventStore();
  await restored.append('a-1', 'none', newEvents(1));
  asked = takenBack = 0;
  furthest = lost;
  store = new WholeLogEventStore(
    restored,
    async () => (asked++, furthest),
    () => takenBack++,
  );
});

const follow = async (after: bigint) => {
  for await (const _ of store.followAll(after, {}, new AbortController().signal)) return;
};

describe('a log that was restored to a state before the place of a follower', () => {
  it('takes no append and no bounds, also if its followers run in other processes', async () => {
    await expect(store.append('a-1', 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.appendWithin({ maxCount: 1 }, 'a-1', 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.setRetention('a-1', { maxCount: 1 })).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await restored.lastRevision('a-1')).toBe(0);
  });

  it('takes no append if it has grown past the place and has no event there', async () => {
    await restored.append('a-1', 0, newEvents(5));
    restored.readAll = () => {
      throw new LogDiffers();
    };
    await expect(store.append('a-1', 5, newEvents(1))).rejects.toThrow(new LogDiffers().message);
  });

  it('takes appends once it has the place, as when a leader had only not shown it yet', async () => {
    await expect(store.append('a-1', 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await restored.append('a-1', 0, newEvents(4));
    expect(await store.append('a-1', 4, newEvents(1))).toMatchObject({ revision: 5 });
  });

  it('takes appends after a rebuild', async () => {
    await expect(store.append('a-1', 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    furthest = await restored.head();
    expect(takenBack).toBe(0);
    expect(await store.append('a-1', 0, newEvents(1))).toMatchObject({ revision: 1 });
    expect(takenBack).toBe(1);
  });

  it('takes no append while the places of the followers cannot be read', async () => {
    store = new WholeLogEventStore(restored, () => Promise.reject(new Error('Postgres is away.')));
    await expect(store.append('a-1', 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
  });
});

describe('a log that is replaced while the process runs', () => {
  beforeEach(async () => {
    furthest = LOG_START;
    await store.append('a-1', 0, newEvents(1));
    furthest = lost;
  });

  it('takes no append once a follower of the process fails', async () => {
    await expect(follow(lost)).rejects.toBeInstanceOf(LogEndsEarlier);
    await expect(store.append('a-1', 1, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('takes no append once it is compared again', async () => {
    const [timing, closing] = [new VirtualTiming(), new AbortController()];
    furthest = LOG_START;
    const comparing = store.keepComparing(timing, closing.signal);
    await store.append('a-1', 1, newEvents(1));
    furthest = lost;
    await timing.pause(COMPARED_EVERY_MS + 1);
    await expect(store.append('a-1', 2, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(takenBack).toBe(0);
    furthest = LOG_START;
    await timing.pause(COMPARED_EVERY_MS + 1);
    expect(takenBack).toBe(1);
    closing.abort();
    await comparing;
  });
});

it('a log with the places of all followers is compared once and takes appends', async () => {
  furthest = await restored.head();
  await follow(LOG_START);
  expect(await store.append('a-1', 0, newEvents(1))).toMatchObject({ revision: 1 });
  expect(await store.append('a-1', 1, newEvents(1))).toMatchObject({ revision: 2 });
  expect(asked).toBe(1);
});

it.each([GatedEventStore, ForwardingEventStore])(
  '%p forwards also the calls for which a store has a default',
  ({ prototype }) => {
    expect(Object.getOwnPropertyNames(prototype)).toEqual(
      expect.arrayContaining(Object.getOwnPropertyNames(EventStore.prototype)),
    );
  },
);
