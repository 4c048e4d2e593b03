import { describe, expect, it } from '@jest/globals';
import { newEvents } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { APPEND_PATIENCE_MS, appendWithRetry, LAST_ANSWER_MS_MAX, WINNER_VISIBLE_MS_MAX } from './append-with-retry.js';
import { type Appended, type ExpectedRevision, type NewEvent, StoreUnavailable, WrongRevision } from './event-store.js';

/** Commits whatever it has accepted only when a time has passed, or never. */
function slow(commitMs: number) {
  const timing = new VirtualTiming();
  const store = new InMemoryEventStore(undefined, () =>
    commitMs === Infinity ? new Promise<void>(() => {}) : timing.pause(commitMs),
  );
  const append = (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) =>
    appendWithRetry(store, timing, APPEND_PATIENCE_MS, stream, expected, events);
  return { store, timing, append };
}

const failure = (appending: Promise<Appended>) =>
  appending.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('an append that loses a race', () => {
  it('is told once reads show what won', async () => {
    const { store, append } = slow(300);
    const winning = store.append('s-1', 'none', newEvents(2));
    expect(await store.lastRevision('s-1')).toBe('none');
    expect(await failure(append('s-1', 'none', newEvents(1)))).toMatchObject({ constructor: WrongRevision, actual: 1 });
    expect(await store.lastRevision('s-1')).toBe(1);
    await winning;
  });

  it('is told although all that won is hidden by the bounds of its stream', async () => {
    const { store, append } = slow(0);
    await store.append('s-1', 'none', newEvents(2));
    await store.setRetention('s-1', { truncateBefore: 2 });
    expect(await failure(append('s-1', 'none', newEvents(1)))).toMatchObject({ constructor: WrongRevision, actual: 1 });
  });

  it('is told at once that there is no such stream', async () => {
    const { timing, append } = slow(0);
    expect(await failure(append('s-1', 4, newEvents(1)))).toMatchObject({ constructor: WrongRevision, actual: 'none' });
    expect(timing.pauses.filter((ms) => ms > 0)).toEqual([]);
  });

  it('is sent again when what won never shows, and counts when that was lost with its leader', async () => {
    const { store, timing, append } = slow(0);
    const [lost, own] = [newEvents(1), newEvents(1)];
    let refusals = 2;
    const keep = store.append.bind(store);
    store.append = async (stream, expected, events) => {
      if (refusals-- > 0) throw new WrongRevision(stream, expected, 0);
      return keep(stream, expected, events);
    };
    expect(await append('s-1', 'none', own)).toMatchObject({ revision: 0 });
    expect(timing.elapsedMs()).toBeGreaterThanOrEqual(WINNER_VISIBLE_MS_MAX);
    expect(await failure(append('s-1', 'none', lost))).toMatchObject({ constructor: WrongRevision, actual: 0 });
  });

  it('has an unknown end when what won does not show for as long as there is patience', async () => {
    const { store, timing, append } = slow(Infinity);
    void store.append('s-1', 'none', newEvents(1));
    expect(await failure(append('s-1', 'none', newEvents(1)))).toBeInstanceOf(StoreUnavailable);
    expect(timing.elapsedMs()).toBeGreaterThanOrEqual(APPEND_PATIENCE_MS - WINNER_VISIBLE_MS_MAX);
  });
});

describe('an append that is identical to one under way', () => {
  it('is repeated until it is answered as the first', async () => {
    const { store, append } = slow(3_000);
    const events = newEvents(1);
    const [first, second] = await Promise.all([store.append('s-1', 'none', events), append('s-1', 'none', events)]);
    expect(second).toEqual(first);
  });

  it('is given up only after a server has had its time', async () => {
    const { store, timing, append } = slow(Infinity);
    const events = newEvents(1);
    void store.append('s-1', 'none', events);
    expect(await failure(append('s-1', 'none', events))).toBeInstanceOf(StoreUnavailable);
    expect(timing.elapsedMs()).toBeGreaterThan(3_000);
    expect(timing.elapsedMs()).toBeLessThanOrEqual(APPEND_PATIENCE_MS + 1_000);
  });
});

describe('an append to a store that is away', () => {
  it('is given up when its patience is over, however long the store takes to say so', async () => {
    const { store, timing, append } = slow(0);
    store.append = async () => {
      await timing.pause(5_000);
      throw new StoreUnavailable('Its disk is full.');
    };
    expect(await failure(append('s-1', 'none', newEvents(1)))).toEqual(new StoreUnavailable('Its disk is full.'));
    expect(timing.elapsedMs()).toBe(APPEND_PATIENCE_MS + LAST_ANSWER_MS_MAX);
  });

  it('is given up as soon where the store goes away before it shows what won', async () => {
    const { store, timing, append } = slow(0);
    store.append = () => Promise.reject(new WrongRevision('s-1', 'none', 0));
    store.lastRevision = async () => {
      await timing.pause(5_000);
      throw new StoreUnavailable('The store is away.');
    };
    expect(await failure(append('s-1', 'none', newEvents(1)))).toEqual(new StoreUnavailable('The store is away.'));
    expect(timing.elapsedMs()).toBe(APPEND_PATIENCE_MS + LAST_ANSWER_MS_MAX);
  });

  it('counts when it is answered after all', async () => {
    const { store, timing, append } = slow(0);
    const keep = store.append.bind(store);
    store.append = async (stream, expected, events) => {
      await timing.pause(APPEND_PATIENCE_MS + LAST_ANSWER_MS_MAX - 1);
      return keep(stream, expected, events);
    };
    expect(await append('s-1', 'none', newEvents(1))).toMatchObject({ revision: 0 });
  });
});
