import { expect, it } from '@jest/globals';

import { type EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { appendSurely } from '../support/append-surely.js';
import {
  type Abilities,
  eventually,
  Following,
  ids,
  newCategory,
  newEvent,
  newEvents,
  newStream,
  range,
  revisions,
  type Subject,
} from './event-store.subject.js';

/** The most bytes that a store may send ahead of a follower that does not ask for more. */
const AHEAD_BYTES_BOUND = 8 * 1024 * 1024;

export function followsContract(subject: () => Subject, can: Abilities): void {
  const store = (): EventStore => subject().store;

  it('starts after a position and delivers in order only what the filter admits', async () => {
    const [wanted, unwanted] = [newCategory(), newCategory()];
    const stream = newStream(wanted);
    const first = await store().append(stream, 'none', newEvents(2));
    await store().append(stream, 1, newEvents(2));
    const following = await new Following(store(), first.position, { categories: [wanted] }).count(2);
    await store().append(newStream(unwanted), 'none', newEvents(3));
    await store().append(stream, 3, newEvents(2));
    await following.count(4);
    expect(revisions((await following.stop()).events)).toEqual([2, 3, 4, 5]);
  });

  it('delivers all events of the types that a reader acts on, stored and new, and advances past the others', async () => {
    const category = newCategory();
    const after = await store().head();
    const types = (count: number) => range(1, count).map((place) => newEvent({ type: place % 10 === 0 ? 'Wanted' : 'Other' }));
    const stream = newStream(category);
    await store().append(stream, 'none', types(200));
    const following = new Following(store(), after, { categories: [category], types: ['Wanted'] });
    const wanted = () => following.events.filter(({ type }) => type === 'Wanted');
    await following.until(() => wanted().length === 20, 'the stored events');
    const { position } = await store().append(stream, 199, [...types(20), newEvent({ type: 'Other' })]);
    await following.until(({ pages }) => (pages.at(-1)?.position ?? -1n) >= position, 'the position to move');
    await following.stop();
    expect(revisions(wanted())).toEqual(range(0, 21).map((place) => 10 * place + 9));
  });

  it('delivers the whole log without a filter, except the store’s own events', async () => {
    const stream = newStream();
    const following = new Following(store(), await store().head());
    await store().setRetention(stream, { maxCount: 1000 });
    const batch = newEvents(3);
    await store().append(stream, 'none', batch);
    const seen = () => following.events.filter((event) => event.stream === stream);
    await following.until(() => seen().length >= 3, 'three events');
    await following.stop();
    expect(ids(seen())).toEqual(ids(batch));
    expect(following.events.filter((event) => event.stream.startsWith('$') || event.type.startsWith('$'))).toEqual([]);
  });

  it('leaves out excluded categories', async () => {
    const [a, b] = [newCategory(), newCategory()];
    const following = new Following(store(), await store().head(), { exceptCategories: [a] });
    await store().append(newStream(a), 'none', newEvents(2));
    await store().append(newStream(b), 'none', newEvents(2));
    await following.until(({ events }) => events.some(({ stream }) => stream.startsWith(b)), 'the other category');
    expect((await following.stop()).events.filter(({ stream }) => stream.startsWith(a))).toEqual([]);
  });

  it('reports when it has caught up, even if the filter admitted nothing', async () => {
    const { position } = await store().append(newStream(), 'none', newEvents(100));
    const following = new Following(store(), -1n, { categories: [newCategory()] });
    await following.until(({ pages }) => pages.at(-1)?.caughtUp === true, 'the present');
    await following.stop();
    expect(following.events).toEqual([]);
    expect(following.pages.at(-1)!.position).toBeGreaterThanOrEqual(position);
  });

  it('advances its position past new events that the filter excludes', async () => {
    const following = new Following(store(), await store().head(), { categories: [newCategory()] });
    const stream = newStream();
    const { position } = await store().append(stream, 'none', newEvents(10));
    for (const round of range(0, 9)) await store().append(stream, 9 + round * 50, newEvents(50));
    await following.until(({ pages }) => (pages.at(-1)?.position ?? -1n) >= position, 'the position to move');
    expect((await following.stop()).events).toEqual([]);
  });

  it('resumes from the position of any page without gap or repetition', async () => {
    const category = newCategory();
    const filter = { categories: [category] };
    const after = await store().head();
    const written: string[] = [];
    const write = async () => {
      for (let round = 0; round < 40; round++) {
        const batch = newEvents(5);
        written.push(...ids(batch));
        await store().append(newStream(category), 'none', batch);
        await store().append(newStream(), 'none', newEvents(2));
      }
    };
    const writing = write();
    const seen: string[] = [];
    for (let position = after; seen.length < 200;) {
      const following = new Following(store(), position, filter);
      await following.until(({ events }) => events.length > 0, 'something new');
      const { pages, events } = await following.stop();
      seen.push(...ids(events));
      position = pages.at(-1)!.position;
    }
    await writing;
    expect(seen).toEqual(written);
  });

  it('returns positions that never decrease, and no event beyond the position of its page', async () => {
    const category = newCategory();
    const following = new Following(store(), await store().head(), { categories: [category] });
    for (const _ of range(1, 20)) {
      await store().append(newStream(category), 'none', newEvents(3));
      await store().append(newStream(), 'none', newEvents(3));
    }
    const { pages } = await (await following.count(60)).stop();
    for (const [index, page] of pages.entries()) {
      const before = index === 0 ? -1n : pages[index - 1]!.position;
      expect(page.position).toBeGreaterThanOrEqual(before);
      for (const { position } of page.events) {
        expect(position).toBeGreaterThan(before);
        expect(position).toBeLessThanOrEqual(page.position);
      }
    }
  });

  it('ends without an error when it is aborted: before the start, while it waits, and while a page is being handled', async () => {
    const after = await store().head();
    await store().append(newStream(), 'none', newEvents(2000));
    for await (const _ of store().followAll(after, {}, AbortSignal.abort())) throw new Error('Nothing was to come.');
    const waiting = await new Following(store(), await store().head()).until(({ pages }) => pages.length > 0, 'a page');
    await waiting.stop();
    const stopping = new AbortController();
    let pages = 0;
    for await (const _ of store().followAll(after, {}, stopping.signal)) {
      pages += 1;
      stopping.abort();
    }
    expect(pages).toBe(1);
  });

  it('lets a follower stop by itself', async () => {
    const category = newCategory();
    const filter = { categories: [category] };
    const after = await store().head();
    await store().append(newStream(category), 'none', newEvents(10));
    const { signal } = new AbortController();
    for (let times = 0; times < 20; times++)
      for await (const { events } of store().followAll(after, filter, signal)) if (events.length > 0) break;
    const following = await new Following(store(), after, filter).count(10);
    await following.stop();
  });

  it('delivers everything to each of many followers', async () => {
    const category = newCategory();
    const stream = newStream(category);
    const after = await store().head();
    const followers = range(1, 50).map(() => new Following(store(), after, { categories: [category] }));
    for (const revision of range(0, 29)) await store().append(stream, revision === 0 ? 'none' : revision - 1, newEvents(1));
    for (const follower of followers) {
      await follower.count(30);
      expect(revisions((await follower.stop()).events)).toEqual(range(0, 29));
    }
  });

  if (can.delivered) {
    it('stops sending when a follower does not ask for more', async () => {
      const category = newCategory();
      const stream = newStream(category);
      const data = JSON.stringify('x'.repeat(10_000));
      const after = await store().head();
      for (const round of range(0, 29)) {
        const batch = range(1, 100).map(() => newEvent({ data }));
        await store().append(stream, round === 0 ? 'none' : round * 100 - 1, batch);
      }
      const before = await subject().delivered!();
      const { signal } = new AbortController();
      const seen: number[] = [];
      for await (const { events } of store().followAll(after, { categories: [category] }, signal)) {
        if (seen.length === 0) {
          const delivered = await settled(subject().delivered!);
          expect((delivered - before) * data.length).toBeLessThan(AHEAD_BYTES_BOUND);
        }
        seen.push(...revisions(events));
        if (seen.length >= 3000) break;
      }
      expect(seen).toEqual(range(0, 2999));
    });
  }

  if (can.restart) {
    it('continues through a restart of the store, without gap or repetition', async () => {
      const category = newCategory();
      const stream = newStream(category);
      const after = await store().head();
      const followers = range(1, 5).map(() => new Following(store(), after, { categories: [category] }));
      await store().append(stream, 'none', newEvents(10));
      await Promise.all(followers.map((follower) => follower.count(10)));
      await subject().restart!();
      await appendSurely(store(), stream, 9, newEvents(5));
      await Promise.all(followers.map((follower) => follower.count(15)));
      for (const following of followers) expect(revisions((await following.stop()).events)).toEqual(range(0, 14));
    });
  }
}

/** Waits until a count no longer grows. Returns it. */
async function settled(count: () => Promise<number>): Promise<number> {
  let last = -1;
  let same = 0;
  await eventually(async () => {
    const now = await count();
    same = now === last ? same + 1 : 0;
    last = now;
    return same >= 20;
  }, 'the store to stop handing out events');
  return last;
}
