import { describe, expect, it } from '@jest/globals';
import { newEvents } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { APPEND_PATIENCE_MS, appendWithRetry, LAST_ANSWER_MS_MAX, WINNER_VISIBLE_MS_MAX } from './append-with-retry.js';
import { type Appended, type ExpectedRevision, type NewEvent, StoreUnavailable, WrongRevision } from './event-store.js';

/** Commits an accepted append only after a delay, or never. */
function slow(commitMs: number) {
  const timing = new VirtualTiming();
  const store = new InMemoryEventStore(undefined, () =>
    commitMs === Infinity ? new Promise<void>(() => {}) : timing.pause(commitMs),
  );
  const append = (stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) =>
    appendWithRetry(store, timing, APPEND_PATIENCE_MS, () => store.append(stream, expected, events));
  return { store, timing, append };
}

const failure = (appending: Promise<Appended>) =>
  appending.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('an append that loses a race', () => {
  it('fails once reads show the winning append', async () => {
    const { store, append } = slow(300);
    const winning = store.append('s-1', 'none', newEvents(2));
    expect(await store.lastRevision('s-1')).toBe('none');
    expect(await failure(append('s-1', 'none', newEvents(1)))).toMatchObject({ constructor: WrongRevision, actual: 1 });
    expect(await store.lastRevision('s-1')).toBe(1);
    await winning;
  });

  it('fails even if the bounds of the stream hide the winning events', async () => {
    const { store, append } = slow(0);
    await store.append('s-1', 'none', newEvents(2));
    await store.setRetention('s-1', { truncateBefore: 2 });
    expect(await failure(append('s-1', 'none', newEvents(1)))).toMatchObject({ constructor: WrongRevision, actual: 1 });
  });

  it('fails at once if the stream does not exist', async () => {
    const { timing, append } = slow(0);
    expect(await failure(append('s-1', 4, newEvents(1)))).toMatchObject({ constructor: WrongRevision, actual: 'none' });
    expect(timing.pauses.filter((ms) => ms > 0)).toEqual([]);
  });

  it('is sent again if the winner never shows, and succeeds if the winner was lost with its leader', async () => {
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

  it('has an unknown outcome if the winner does not show within the patience', async () => {
    const { store, timing, append } = slow(Infinity);
    void store.append('s-1', 'none', newEvents(1));
    expect(await failure(append('s-1', 'none', newEvents(1)))).toBeInstanceOf(StoreUnavailable);
    expect(timing.elapsedMs()).toBeGreaterThanOrEqual(APPEND_PATIENCE_MS - WINNER_VISIBLE_MS_MAX);
  });
});

describe('an append that is identical to one in progress', () => {
  it('is repeated until it gets the answer of the first', async () => {
    const { store, append } = slow(3_000);
    const events = newEvents(1);
    const [first, second] = await Promise.all([store.append('s-1', 'none', events), append('s-1', 'none', events)]);
    expect(second).toEqual(first);
  });

  it('is given up only after the server has had time to answer', async () => {
    const { store, timing, append } = slow(Infinity);
    const events = newEvents(1);
    void store.append('s-1', 'none', events);
    expect(await failure(append('s-1', 'none', events))).toBeInstanceOf(StoreUnavailable);
    expect(timing.elapsedMs()).toBeGreaterThan(3_000);
    expect(timing.elapsedMs()).toBeLessThanOrEqual(APPEND_PATIENCE_MS + 1_000);
  });
});

describe('an append to an unavailable store', () => {
  it('is given up after its patience, however long the store takes to fail', async () => {
    const { store, timing, append } = slow(0);
    store.append = async () => {
      await timing.pause(5_000);
      throw new StoreUnavailable('Its disk is full.');
    };
    expect(await failure(append('s-1', 'none', newEvents(1)))).toEqual(new StoreUnavailable('Its disk is full.'));
    expect(timing.elapsedMs()).toBe(APPEND_PATIENCE_MS + LAST_ANSWER_MS_MAX);
  });

  it('is given up after its patience if the store becomes unavailable before reads show the winner', async () => {
    const { store, timing, append } = slow(0);
    store.append = () => Promise.reject(new WrongRevision('s-1', 'none', 0));
    store.lastRevision = async () => {
      await timing.pause(5_000);
      throw new StoreUnavailable('The store is away.');
    };
    expect(await failure(append('s-1', 'none', newEvents(1)))).toEqual(new StoreUnavailable('The store is away.'));
    expect(timing.elapsedMs()).toBe(APPEND_PATIENCE_MS + LAST_ANSWER_MS_MAX);
  });

  it('succeeds if an answer arrives in time', async () => {
    const { store, timing, append } = slow(0);
    const keep = store.append.bind(store);
    store.append = async (stream, expected, events) => {
      await timing.pause(APPEND_PATIENCE_MS + LAST_ANSWER_MS_MAX - 1);
      return keep(stream, expected, events);
    };
    expect(await append('s-1', 'none', newEvents(1))).toMatchObject({ revision: 0 });
  });
});
