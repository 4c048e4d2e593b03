import { expect, it } from '@jest/globals';

import { type EventStore, type StoredTexts, STREAM_START } from '../../src/kernel/event-sourcing/event-store.js';
import {
  allOf,
  eventsOf,
  ids,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  range,
  readLog,
  revisions,
  type Subject,
} from './event-store.subject.js';

/** The most events that any store returns in one page. */
const PAGE_EVENTS_BOUND = 1000;

export function readsContract(subject: () => Subject): void {
  const store = (): EventStore => subject().store;

  it('returns an event with its stream, revision, position and time', async () => {
    const stream = newStream();
    const event = newEvent();
    const { position } = await store().append(stream, 'none', [event]);
    const [stored] = await eventsOf(store().read(stream));
    expect(stored).toEqual({ ...event, stream, revision: 0, position, at: expect.any(Date) });
    expect(Math.abs(stored!.at.getTime() - Date.now())).toBeLessThan(60_000);
  });

  it('returns nothing for a stream that does not exist', async () => {
    expect(await eventsOf(store().read(newStream()))).toEqual([]);
    expect(await eventsOf(store().read(newStream(), { direction: 'backwards', limit: 1 }))).toEqual([]);
  });

  it('gives concurrent reads each their own events', async () => {
    const streams = await Promise.all(
      range(0, 39).map(async (count) => {
        const [stream, events] = [newStream(), newEvents(count)];
        if (count > 0) await store().append(stream, 'none', events);
        return { stream, events };
      }),
    );
    await Promise.all(
      streams.map(async ({ stream, events }, at) => {
        const [all, some, last, texts] = await Promise.all([
          eventsOf(store().read(stream)),
          eventsOf(store().read(stream, { from: at % 5, limit: at % 7 })),
          eventsOf(store().read(stream, { direction: 'backwards', limit: 2 })),
          allOf(store().readTexts(stream, at % 3)),
        ]);
        expect(ids(all)).toEqual(ids(events));
        expect(ids(some)).toEqual(ids(events.slice(at % 5).slice(0, at % 7)));
        expect(ids(last)).toEqual(ids(events).slice(-2).reverse());
        expect(texts.flatMap((page) => page.texts)).toEqual(events.slice(at % 3).map(({ data }) => data));
      }),
    );
  });

  it('returns the last revision of a stream, or that there is no stream', async () => {
    const stream = newStream();
    expect(await store().lastRevision(stream)).toBe('none');
    await store().append(stream, 'none', newEvents(3));
    expect(await store().lastRevision(stream)).toBe(2);
    await store().append(stream, 2, newEvents(1));
    expect(await store().lastRevision(stream)).toBe(3);
  });

  it('returns the texts of a stream in pages, with the metadata of the first requested event', async () => {
    const stream = newStream();
    const events = range(0, 1_499).map((index) =>
      newEvent({ data: `{"text":"${index} é\\u001f\\n"}\n`, metadata: `{"at":${index}}` }),
    );
    await store().append(stream, 'none', events.slice(0, 700));
    await store().append(stream, 699, events.slice(700));
    for (const from of [0, 3, 1_499]) {
      const pages = await allOf(store().readTexts(stream, from));
      expect(pages.flatMap(({ texts }) => texts)).toEqual(events.slice(from).map(({ data }) => data));
      expect(pages.map(({ first }) => first)).toEqual(pages.map((_, index) => from + pages.slice(0, index).flatMap(({ texts }) => texts).length)); // oxfmt-ignore
      expect(pages.map(({ metadata }) => metadata)).toEqual(
        pages.map((_, index) => (index === 0 ? `{"at":${from}}` : undefined)),
      );
      expect(Math.max(...pages.map(({ texts }) => texts.length))).toBeLessThanOrEqual(PAGE_EVENTS_BOUND);
    }
  });

  it('returns no texts past the end, of a missing stream, or before the truncation', async () => {
    const stream = newStream();
    const all = async (name: string, from?: number) => {
      const pages: StoredTexts[] = [];
      for await (const page of store().readTexts(name, from)) pages.push(page);
      return pages;
    };
    expect(await all(stream)).toEqual([]);
    await store().append(stream, 'none', newEvents(3));
    expect(await all(stream, 3)).toEqual([]);
    await store().setRetention(stream, { truncateBefore: 2 });
    const [page, ...others] = await all(stream);
    expect([page!.first, page!.texts.length, page!.metadata, others]).toEqual([2, 1, undefined, []]);
    await store().setRetention(stream, { truncateBefore: 3 });
    expect(await all(stream)).toEqual([]);
  });

  it('returns which of many streams have grown past a given revision each', async () => {
    const [grown, same, ahead, none] = [newStream(), newStream(), newStream(), newStream()];
    for (const stream of [grown, same, ahead]) await store().append(stream, 'none', newEvents(3));
    const known = new Map(
      [grown, same, ahead, none].map((stream, index) => [stream, [STREAM_START, 2, 7, STREAM_START][index]!]),
    );
    expect(await store().grownPast(known)).toEqual(new Map([[grown, 2]]));
    await store().append(same, 2, newEvents(1));
    await store().append(none, 'none', newEvents(1));
    await store().setRetention(same, { truncateBefore: 4 });
    const now = new Map([[grown, 2], [same, 3], [none, 0]]); // oxfmt-ignore
    expect(await store().grownPast(known)).toEqual(now);
    expect(await eventsOf(store().read(same))).toEqual([]);
    expect(await store().grownPast(known)).toEqual(now);
    expect(await store().grownPast(new Map())).toEqual(new Map());
  });

  it.each([
    ['from the start', {}, range(0, 9)],
    ['from a revision', { from: 4 }, range(4, 9)],
    ['from a revision with a limit', { from: 4, limit: 3 }, range(4, 6)],
    ['from the last', { from: 9 }, [9]],
    ['from past the end', { from: 10 }, []],
    ['back from the end', { direction: 'backwards' as const }, range(0, 9).reverse()],
    ['back from the end with a limit', { direction: 'backwards' as const, limit: 1 }, [9]],
    ['back from a revision with a limit', { direction: 'backwards' as const, from: 4, limit: 3 }, [4, 3, 2]],
    ['back from the first', { direction: 'backwards' as const, from: 0 }, [0]],
  ])('returns a stream %s', async (_, options, expected) => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(10));
    expect(revisions(await eventsOf(store().read(stream, options)))).toEqual(expected);
  });

  it('returns a long stream in pages of bounded size, in both directions', async () => {
    const stream = newStream();
    for (let written = 0; written < 3000; written += 1000)
      await store().append(stream, written === 0 ? 'none' : written - 1, newEvents(1000));
    for (const direction of ['forwards', 'backwards'] as const) {
      const seen: number[] = [];
      for await (const page of store().read(stream, { direction })) {
        expect(page.length).toBeGreaterThan(0);
        expect(page.length).toBeLessThanOrEqual(PAGE_EVENTS_BOUND);
        seen.push(...revisions(page));
      }
      expect(seen).toEqual(direction === 'forwards' ? range(0, 2999) : range(0, 2999).reverse());
    }
  });

  it('lets a reader stop in the middle', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(2000));
    for (let times = 0; times < 20; times++) for await (const page of store().read(stream)) if (page.length > 0) break;
    expect(await eventsOf(store().read(stream, { limit: 5 }))).toHaveLength(5);
  });

  it('returns the log in the order of positions, each the one that its append returned', async () => {
    const category = newCategory();
    const [one, two] = [newStream(category), newStream(category)];
    const after = await store().head();
    const answered = [
      await store().append(one, 'none', newEvents(1)),
      await store().append(two, 'none', newEvents(1)),
      await store().append(one, 0, newEvents(1)),
    ];
    const { events } = await readLog(store(), after, { categories: [category] });
    expect(events.map(({ stream, revision }) => [stream, revision])).toEqual([
      [one, 0],
      [two, 0],
      [one, 1],
    ]);
    expect(events.map(({ position }) => position)).toEqual(answered.map(({ position }) => position));
    expect(await eventsOf(store().read(one))).toEqual(events.filter(({ stream }) => stream === one));
  });

  it('returns the whole log without a filter, except the store’s own events', async () => {
    const stream = newStream();
    const after = await store().head();
    const batch = newEvents(3);
    await store().append(stream, 'none', batch);
    await store().setRetention(stream, { maxCount: 100 });
    const { events } = await readLog(store(), after);
    expect(ids(events.filter((event) => event.stream === stream))).toEqual(ids(batch));
    expect(events.filter((event) => event.stream.startsWith('$') || event.type.startsWith('$'))).toEqual([]);
  });

  it('returns only the requested categories, matched by their full name', async () => {
    const category = newCategory();
    const streams = [newStream(category), `${category}x-1`, category, newStream(), `x${category}-1`, `${category}-`];
    const after = await store().head();
    for (const stream of streams) await store().append(stream, 'none', newEvents(1));
    const found = async (categories: string[]) =>
      (await readLog(store(), after, { categories })).events.map(({ stream }) => stream);
    expect(await found([category])).toEqual([streams[0], category, `${category}-`]);
    expect(await found([category, `${category}x`])).toEqual([streams[0], `${category}x-1`, category, `${category}-`]);
  });

  it('leaves out excluded categories, even if they are also requested', async () => {
    const [a, b, c] = [newCategory(), newCategory(), newCategory()];
    const streams = [newStream(a), newStream(b), newStream(c), `${a}x-1`, a];
    const after = await store().head();
    for (const stream of streams) await store().append(stream, 'none', newEvents(1));
    const found = async (filter: object) =>
      (await readLog(store(), after, filter)).events.map(({ stream }) => stream).filter((stream) => streams.includes(stream));
    expect(await found({ exceptCategories: [a, b] })).toEqual([streams[2], `${a}x-1`]);
    expect(await found({ categories: [b, c], exceptCategories: [b] })).toEqual([streams[2]]);
  });

  it('matches a category literally, whatever characters it contains', async () => {
    const category = `${newCategory()}.*+(a|b)[c]\\d^$`;
    const after = await store().head();
    await store().append(`${category}-1`, 'none', newEvents(1));
    await store().append(newStream(), 'none', newEvents(1));
    expect((await readLog(store(), after, { categories: [category] })).events).toHaveLength(1);
    const others = (await readLog(store(), after, { exceptCategories: [category] })).events;
    expect(others.filter(({ stream }) => stream === `${category}-1`)).toEqual([]);
  });

  it('advances the position past events that the filter excludes, and report having caught up', async () => {
    const category = newCategory();
    const after = await store().head();
    const { position } = await store().append(newStream(), 'none', newEvents(300));
    const { pages, events } = await readLog(store(), after, { categories: [category] });
    expect(events).toEqual([]);
    expect(pages.at(-1)).toMatchObject({ caughtUp: true });
    expect(pages.at(-1)!.position).toBeGreaterThanOrEqual(position);
    for (const page of pages.slice(0, -1)) expect(page.caughtUp).toBe(false);
  });

  it('reports having caught up when there is nothing to read', async () => {
    const after = (await store().append(newStream(), 'none', newEvents(1))).position;
    const { pages } = await readLog(store(), after, { categories: [newCategory()] });
    expect(pages.at(-1)).toMatchObject({ events: [], caughtUp: true });
    expect(pages.at(-1)!.position).toBeGreaterThanOrEqual(after);
  });

  it('resumes from any position that was returned, without gap or repetition', async () => {
    const category = newCategory();
    const after = await store().head();
    const batches = range(1, 12).map(() => newEvents(25));
    for (const batch of batches) {
      await store().append(newStream(category), 'none', batch);
      await store().append(newStream(), 'none', newEvents(3));
    }
    const seen: string[] = [];
    for (let position = after, steps = 0; steps < 100; steps++) {
      const { pages, events } = await readLog(store(), position, { categories: [category] }, 7);
      expect(events.length).toBeLessThanOrEqual(7);
      seen.push(...ids(events));
      position = pages.at(-1)!.position;
      if (pages.at(-1)!.caughtUp) break;
    }
    expect(seen).toEqual(batches.flatMap(ids));
  });

  it('resumes from the position of any event', async () => {
    const category = newCategory();
    await store().append(newStream(category), 'none', newEvents(6));
    const { events } = await readLog(store(), undefined, { categories: [category] });
    for (const [index, { position }] of events.entries()) {
      const rest = await readLog(store(), position, { categories: [category] });
      expect(revisions(rest.events)).toEqual(range(index + 1, 5));
    }
  });

  it('returns a head at or past the newest event, with all later events after it', async () => {
    const stream = newStream();
    const before = (await store().append(stream, 'none', newEvents(2))).position;
    const head = await store().head();
    expect(head).toBeGreaterThanOrEqual(before);
    const next = (await store().append(stream, 1, newEvents(1))).position;
    expect(next).toBeGreaterThan(head);
    expect((await readLog(store(), head)).events.map(({ position }) => position)).toEqual([next]);
  });
}
