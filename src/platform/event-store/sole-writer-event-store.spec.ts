import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { allOf, eventsOf, newEvents, newStream, range, revisions } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { Seeded } from '../../../test/support/seeded.js';
import {
  type Appended,
  type ExpectedRevision,
  type NewEvent,
  StoreUnavailable,
  type StreamReading,
  WrongRevision,
} from '../../kernel/event-sourcing/event-store.js';
import { ForwardingEventStore } from './forwarding-event-store.js';
import { KNOWN_ENDS_MAX, UNDECIDED_MAX } from './known-ends.js';
import { SoleWriterEventStore } from './sole-writer-event-store.js';

let inner: InMemoryEventStore;
let store: SoleWriterEventStore;
let stream: string;
/** The number of reads that have reached the store. */
let reads: () => number;

beforeEach(() => {
  inner = new InMemoryEventStore();
  const { mock } = jest.spyOn(inner, 'read');
  reads = () => mock.calls.length;
  store = new SoleWriterEventStore(inner);
  stream = newStream();
});

const readFrom = async (from: number) => revisions(await eventsOf(store.read(stream, { from })));

/** Appends, and reads the stream to its end. */
async function withKnownEnd(events = 3): Promise<void> {
  await store.append(stream, 'none', newEvents(events));
  await readFrom(0);
}

describe('a stream whose end was read', () => {
  it('is not read again past its end', async () => {
    await withKnownEnd();
    const before = reads();
    expect(await readFrom(3)).toEqual([]);
    expect(await eventsOf(store.read(stream, { from: 4, limit: 1 }))).toEqual([]);
    expect(await allOf(store.readTexts(stream, 3))).toEqual([]);
    expect(reads()).toBe(before);
  });

  it('is read before its end', async () => {
    await withKnownEnd();
    expect(await readFrom(2)).toEqual([2]);
    expect(await eventsOf(store.read(stream, { direction: 'backwards', limit: 1 }))).toHaveLength(1);
    expect(revisions(await eventsOf(store.read(stream, { direction: 'backwards', from: 9, limit: 2 })))).toEqual([2, 1]);
  });

  it('has its end moved by an append', async () => {
    await withKnownEnd();
    await store.append(stream, 2, newEvents(2));
    const before = reads();
    expect(await readFrom(5)).toEqual([]);
    expect(reads()).toBe(before);
    expect(await readFrom(3)).toEqual([3, 4]);
  });

  it('was found by a read of texts, and by one that found nothing', async () => {
    await store.append(stream, 'none', newEvents(2));
    await allOf(store.readTexts(stream));
    const other = newStream();
    await eventsOf(store.read(other));
    const before = reads();
    expect(await readFrom(2)).toEqual([]);
    expect(await eventsOf(store.read(other))).toEqual([]);
    expect(reads()).toBe(before);
  });
});

it('a read begins when its first page is pulled', async () => {
  await withKnownEnd();
  const [pages, limited, texts] = [
    store.read(stream, { from: 3 }),
    store.read(stream, { from: 3, limit: 1 }),
    store.readTexts(stream, 3),
  ];
  await store.append(stream, 2, newEvents(1));
  expect(revisions([...(await eventsOf(pages)), ...(await eventsOf(limited))])).toEqual([3, 3]);
  expect(await allOf(texts)).toHaveLength(1);
});

describe('the end of a stream is not known', () => {
  it('after a read that stopped earlier', async () => {
    await store.append(stream, 'none', newEvents(3));
    for await (const _ of store.read(stream)) break;
    await eventsOf(store.read(stream, { limit: 1 }));
    expect(await readFrom(1)).toEqual([1, 2]);
  });

  it('while an append is under way, because its event can be read before it is acknowledged', async () => {
    await withKnownEnd();
    const acknowledged = held();
    inner.append = async (...what) => {
      const appended = await InMemoryEventStore.prototype.append.apply(inner, what);
      await acknowledged.promise;
      return appended;
    };
    const append = store.append(stream, 2, newEvents(1));
    await eventuallyHas(4);
    expect(await readFrom(3)).toEqual([3]);
    acknowledged.release();
    await append;
  });

  it('after a repeated append, which returns what the first has returned', async () => {
    const events = newEvents(1);
    await store.append(stream, 'none', events);
    await store.append(stream, 0, newEvents(1));
    await store.append(stream, 'none', events);
    expect(await readFrom(1)).toEqual([1]);
  });

  it('when an append without an answer may still be written', async () => {
    await withKnownEnd();
    const late = newEvents(1);
    inner.append = () => Promise.reject(new StoreUnavailable('No answer.'));
    await expect(store.append(stream, 2, late)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.append(stream, 0, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    inner.append = (...what) => InMemoryEventStore.prototype.append.apply(inner, what);
    for (const from of [0, 3, 9]) await readFrom(from);
    await inner.append(stream, 2, late);
    expect(await readFrom(3)).toEqual([3]);
    const before = reads();
    expect(await readFrom(4)).toEqual([]);
    expect(reads()).toBe(before);
  });

  it('after other bounds were set, which may show hidden events', async () => {
    await store.append(stream, 'none', newEvents(3));
    await store.setRetention(stream, { maxAgeSeconds: -1 });
    expect(await readFrom(2)).toEqual([]);
    await store.setRetention(stream, {});
    expect(await readFrom(2)).toEqual([2]);
    await store.setRetention(stream, { maxAgeSeconds: -1 });
    expect(await readFrom(2)).toEqual([]);
    await store.appendWithin({ maxAgeSeconds: 1_000 }, stream, 2, newEvents(1));
    expect(await readFrom(2)).toEqual([2, 3]);
  });

  it(`of the stream that was used least recently, of more than ${KNOWN_ENDS_MAX}`, async () => {
    await withKnownEnd();
    for (const at of range(1, KNOWN_ENDS_MAX)) await eventsOf(store.read(`${stream}-${at}`));
    const before = reads();
    expect(await readFrom(3)).toEqual([]);
    expect(reads()).toBe(before + 1);
  });

  it(`of any stream after ${UNDECIDED_MAX} undecided appends`, async () => {
    await withKnownEnd();
    const append = jest.spyOn(inner, 'append').mockRejectedValue(new StoreUnavailable('No answer.'));
    for (const at of range(0, UNDECIDED_MAX)) await store.append(`${stream}-${at}`, 'none', newEvents(1)).catch(() => undefined);
    append.mockRestore();
    for (const _ of range(1, 2)) {
      const before = reads();
      expect(await readFrom(3)).toEqual([]);
      expect(reads()).toBe(before + 1);
    }
  });
});

const SEEDS = 400;

it(`shows in each read what was written before the read, in ${SEEDS} random interleavings`, async () => {
  let saved = 0;
  for (const seed of range(1, SEEDS)) saved += await interleaved(new Seeded(seed));
  expect(saved).toBeGreaterThan(SEEDS);
});

/** Runs concurrent writers and readers. Returns how many reads were answered from memory. */
async function interleaved(random: Seeded): Promise<number> {
  const server = new InMemoryEventStore();
  const slow = new SlowEventStore(server, random);
  const log = new SoleWriterEventStore(slow);
  const names = [newStream(), newStream()];
  const sent: { name: string; expected: ExpectedRevision; events: NewEvent[] }[] = [];
  const endOf = (name: string) => server.lastRevision(name);
  let answered = 0;
  const append = async (name: string) => {
    const end = await endOf(name);
    const again = random.oneIn(4) ? sent[random.between(0, sent.length - 1)] : undefined;
    const what = again ?? { name, expected: end, events: newEvents(random.between(1, 3)) };
    sent.push(what);
    await log.append(what.name, what.expected, what.events).catch((error: unknown) => {
      if (!(error instanceof WrongRevision || error instanceof StoreUnavailable)) throw error;
    });
  };
  const read = async (name: string) => {
    const end = await endOf(name);
    const count = end === 'none' ? 0 : end + 1;
    const from = Math.max(0, count + random.between(-2, 2));
    const before = slow.reads;
    const shown = random.oneIn(2)
      ? revisions(await eventsOf(log.read(name, { from })))
      : (await allOf(log.readTexts(name, from))).flatMap(({ first, texts }) => texts.map((_, at) => first + at));
    if (slow.reads === before) answered++;
    expect(shown).toEqual(range(from, from + shown.length - 1));
    expect(from + shown.length).toBeGreaterThanOrEqual(count);
  };
  const worker = async () => {
    for (let step = 0; step < 12; step++) {
      await ticks(random.between(0, 3));
      await (random.oneIn(3) ? append : read)(names[random.between(0, 1)]!);
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  return answered;
}

/** A store whose calls take a while, whose answers get lost, and which may write an append after it has given it up. */
class SlowEventStore extends ForwardingEventStore {
  reads = 0;

  constructor(
    store: InMemoryEventStore,
    private readonly random: Seeded,
  ) {
    super(store);
  }

  override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const write = async () => {
      await this.while();
      return this.store.append(stream, expected, events);
    };
    if (this.random.oneIn(6)) {
      void this.while()
        .then(write)
        .catch(() => undefined);
      await this.while();
      throw new StoreUnavailable('No answer.');
    }
    const appended = await write();
    await this.while();
    return appended;
  }

  override async *read(stream: string, reading?: StreamReading) {
    this.reads++;
    await this.while();
    const pages = await allOf(this.store.read(stream, reading));
    await this.while();
    yield* pages;
  }

  override async *readTexts(stream: string, from?: number) {
    this.reads++;
    await this.while();
    const pages = await allOf(this.store.readTexts(stream, from));
    await this.while();
    yield* pages;
  }

  private while(): Promise<void> {
    return ticks(this.random.between(0, 12));
  }
}

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await Promise.resolve();
}

async function eventuallyHas(count: number): Promise<void> {
  while ((await eventsOf(InMemoryEventStore.prototype.read.call(inner, stream))).length < count) await Promise.resolve();
}

function held(): { promise: Promise<void>; release: () => void } {
  let release = () => {};
  const promise = new Promise<void>((resolve) => (release = resolve));
  return { promise, release };
}
