import { expect, it } from '@jest/globals';

import {
  type EventStore,
  type ExpectedRevision,
  type LogPage,
  type StoredEvent,
  WrongRevision,
} from '../../src/kernel/event-sourcing/event-store.js';
import {
  eventually,
  Following,
  ids,
  newCategory,
  newEvents,
  newStream,
  range,
  readLog,
  revisions,
  type Subject,
} from './event-store.subject.js';

const WRITERS = 50;
const STREAMS = 20;
const APPENDS_PER_WRITER = 10;

export function concurrencyContract(subject: () => Subject): void {
  const store = (): EventStore => subject().store;

  it(`shows every follower each event of ${WRITERS} writers once, in one order`, async () => {
    const category = newCategory();
    const filter = { categories: [category] };
    const streams = range(1, STREAMS).map(() => newStream(category));
    const after = await store().head();
    const steady = new Following(store(), after, filter);
    const restless = followInSteps(store(), after, filter);

    const written = (await Promise.all(range(1, WRITERS).map((writer) => write(store(), streams, writer)))).flat();

    await steady.count(written.length);
    await steady.stop();
    await eventually(() => restless.events.length >= written.length, 'the restless follower');
    await restless.stop();
    const read = (await readLog(store(), after, filter)).events;

    expect(new Set(ids(steady.events))).toEqual(new Set(written));
    expectOrder(steady.events, written.length);
    expect(ids(restless.events)).toEqual(ids(steady.events));
    expect(read).toEqual(steady.events);
  });
}

/** Appends to one stream after another, and decides again whenever another writer was first. Returns the ids that it wrote. */
async function write(store: EventStore, streams: readonly string[], writer: number): Promise<string[]> {
  const written: string[] = [];
  for (let count = 0; count < APPENDS_PER_WRITER; count++) {
    const stream = streams[(writer * 7 + count * 3) % streams.length]!;
    const batch = newEvents(1 + ((writer + count) % 3));
    for (let expected: ExpectedRevision | undefined = 'none'; expected !== undefined;) {
      expected = await store.append(stream, expected, batch).then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof WrongRevision && error.actual !== 'unknown') return error.actual;
          throw error;
        },
      );
    }
    written.push(...ids(batch));
  }
  return written;
}

/** A follower that stops after every third page and starts again from the last position it was given. */
function followInSteps(store: EventStore, after: bigint, filter: { categories: string[] }) {
  const events: StoredEvent[] = [];
  let stopped = false;
  let current = new AbortController();
  const run = async () => {
    for (let position = after; !stopped;) {
      current = new AbortController();
      let pages = 0;
      for await (const page of store.followAll(position, filter, current.signal)) {
        events.push(...(page satisfies LogPage).events);
        position = page.position;
        if (++pages === 3) break;
      }
    }
  };
  const running = run();
  const stop = async () => {
    stopped = true;
    current.abort();
    await running;
  };
  return { events, stop };
}

function expectOrder(events: readonly StoredEvent[], count: number): void {
  expect(events).toHaveLength(count);
  for (const [index, { position }] of events.entries()) if (index > 0) expect(position > events[index - 1]!.position).toBe(true);
  for (const name of new Set(events.map(({ stream }) => stream))) {
    const ofStream = events.filter(({ stream }) => stream === name);
    expect(revisions(ofStream)).toEqual(range(0, ofStream.length - 1));
  }
}
