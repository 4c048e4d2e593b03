import { describe, expect, it } from '@jest/globals';
import { because, cause, count, counter } from '../../../test/support/counter-stream.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../test/support/mortal-store.js';
import { eventsOf } from '../../../test/support/turns.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { RACE_PATIENCE_MS } from './append-races.js';
import { type EventStore, WrongRevision } from './event-store.js';
import type { Event } from './events.js';
import { type Aggregate, Streams } from './streams.js';

describe('a lost race', () => {
  /** A log in which another process appends right before each of the given number of appends. */
  const raced = (races: number) => {
    const log = new InMemoryEventStore();
    const timing = new VirtualTiming();
    const rival = new Streams(log, timing);
    let attempts = 0;
    const store = new MortalStore(log, Infinity, (stream) => {
      if (++attempts <= races) return rival.transact(stream, counter, count(10), because(`rival ${attempts}`));
    });
    return { log, timing, streams: new Streams(store, timing), attempts: () => attempts };
  };

  it.each([1, 5, 30])("decides again on the winner's state: %i races in a row", async (races) => {
    const { streams, attempts } = raced(races);
    const asked: number[] = [];
    const decide = (sum: number) => (asked.push(sum), count(1)());
    const { state, revision } = await streams.transact('counter-1', counter, decide, cause);
    expect([state, revision, attempts()]).toEqual([10 * races + 1, races, races + 1]);
    expect(asked).toEqual(Array.from({ length: races + 1 }, (_, lost) => 10 * lost));
  });

  /** A state of which a later event changes only one part. */
  type Part = Event<'PartChanged' | 'PartReplaced', { name: string; by: number }>;
  const parts: Aggregate<Readonly<Record<string, Readonly<{ by: number }>>>, Part> = {
    initial: {},
    evolve: (state, { data: { name, by } }) => ({ ...state, [name]: { by } }),
    codec: { PartChanged: [], PartReplaced: [] },
  };
  const part = (name: string, by: number, type: Part['type'] = 'PartChanged') => [{ type, data: { name, by } }] as const;

  it.each<[string, readonly Part[]]>([
    ['other data', part('a', 2)],
    ['another type', part('a', 1, 'PartReplaced')],
  ])('is not taken for the own append if the winner has appended %s for the same cause', async (_, own) => {
    const log = new InMemoryEventStore();
    const [winner, loser] = [new Streams(log, new VirtualTiming()), new Streams(log, new VirtualTiming())];
    const known = await loser.fold('parts-1', parts);
    await winner.transact('parts-1', parts, () => part('a', 1), cause);
    const asked: unknown[] = [];
    const decide = (state: object) => (asked.push(state), 'a' in state ? [] : own);
    expect((await loser.transact('parts-1', parts, decide, cause, known)).events).toEqual([]);
    expect(asked).toEqual([{}, { a: { by: 1 } }]);
  });

  it('continues the fold that the caller has passed, so that the caller can see what has changed', async () => {
    const log = new InMemoryEventStore();
    const streams = new Streams(log, new VirtualTiming());
    await streams.transact('parts-1', parts, () => part('a', 1), cause);
    const known = await streams.fold('parts-1', parts);
    const seen: unknown[] = [];
    await Promise.all([
      streams.transact('parts-1', parts, () => part('b', 1), because('r2')),
      streams.transact('parts-1', parts, (state) => (seen.push(state['a']), []), because('r3'), known),
    ]);
    expect(seen).toEqual([known.state['a']]);
    expect(seen[0]).toBe(known.state['a']);
  });

  it('is a success if the winner made the same change', async () => {
    const { streams } = raced(1);
    const { state, events } = await streams.transact('counter-1', counter, (sum) => (sum >= 10 ? [] : count(10)()), cause);
    expect([state, events]).toEqual([10, []]);
  });

  it('is thrown after the patience', async () => {
    const { streams, timing } = raced(Infinity);
    await expect(streams.transact('counter-1', counter, count(1), cause)).rejects.toBeInstanceOf(WrongRevision);
    expect(timing.elapsedMs()).toBeLessThanOrEqual(RACE_PATIENCE_MS);
  });

  it('never keeps `record` from appending what has happened', async () => {
    const races = 400;
    const { streams, timing, log } = raced(races);
    const { state } = await streams.record('counter-1', counter, count(1), cause);
    expect([state, timing.elapsedMs() > RACE_PATIENCE_MS]).toEqual([10 * races + 1, true]);
    expect(await eventsOf(log, 'counter-1')).toHaveLength(races + 1);
  });
});

describe('many transactions of one stream', () => {
  const LATENCY_MS = 5;
  const slow = (log: EventStore, timing: VirtualTiming) => {
    let attempts = 0;
    const store = new MortalStore(
      log,
      Infinity,
      () => (attempts++, timing.pause(LATENCY_MS)),
      () => timing.pause(LATENCY_MS),
    );
    return { streams: new Streams(store, timing), attempts: () => attempts };
  };
  const all = (streams: Streams, who: string, many: number) =>
    Promise.all(
      Array.from({ length: many }, (_, index) => streams.transact('counter-1', counter, count(1), because(`${who}${index}`))),
    );

  it('do not race with each other and run in the order of the calls', async () => {
    const { streams, attempts } = slow(new InMemoryEventStore(), new VirtualTiming());
    const outcomes = await all(streams, 'r', 200);
    expect(outcomes.map(({ state }) => state)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(attempts()).toBe(200);
  });

  it.each([1, 2, 3])('all succeed, also from three processes at the same time (seed %i)', async (seed) => {
    const [log, timing] = [new InMemoryEventStore(), new VirtualTiming(seed)];
    const processes = ['a', 'b', 'c'].map((who) => ({ who, ...slow(log, timing) }));
    await Promise.all(processes.map(({ who, streams }) => all(streams, who, 50)));
    expect((await processes[0]!.streams.fold('counter-1', counter)).state).toBe(150);
    expect(timing.elapsedMs()).toBeLessThan(RACE_PATIENCE_MS);
  });

  it('do not wait for one whose append hangs', async () => {
    const log = new InMemoryEventStore();
    let isFirst = true;
    const hanging = new MortalStore(log, Infinity, () => {
      if (!isFirst) return;
      isFirst = false;
      return new Promise(() => undefined);
    });
    const streams = new Streams(hanging, new VirtualTiming());
    void all(streams, 'hangs', 1);
    await all(streams, 'r', 20);
    expect((await streams.fold('counter-1', counter)).state).toBe(20);
  });
});
