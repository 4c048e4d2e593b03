import { expect, it } from '@jest/globals';

import { type EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { Following, ids, newCategory, newEvents, newStream, range, revisions, type Subject } from './event-store.subject.js';

export function logFollowsContract(subject: () => Subject): void {
  const store = (): EventStore => subject().store;

  it('starts after a position and delivers in order only what the filter admits', async () => {
    const [wanted, unwanted] = [newCategory(), newCategory()];
    const stream = newStream(wanted);
    const first = await store().append(stream, 'none', newEvents(2));
    await store().append(stream, 1, newEvents(2));
    const following = await Following.log(store(), first.position, { categories: [wanted] }).count(2);
    await store().append(newStream(unwanted), 'none', newEvents(3));
    await store().append(stream, 3, newEvents(2));
    await following.count(4);
    expect(revisions((await following.stop()).events)).toEqual([2, 3, 4, 5]);
  });

  it('delivers the whole log without a filter, except the store’s own events', async () => {
    const stream = newStream();
    const following = Following.log(store(), await store().head());
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
    const following = Following.log(store(), await store().head(), { exceptCategories: [a] });
    await store().append(newStream(a), 'none', newEvents(2));
    await store().append(newStream(b), 'none', newEvents(2));
    await following.until(({ events }) => events.some(({ stream }) => stream.startsWith(b)), 'the other category');
    expect((await following.stop()).events.filter(({ stream }) => stream.startsWith(a))).toEqual([]);
  });

  it('reports when it has caught up, even if the filter admitted nothing', async () => {
    const { position } = await store().append(newStream(), 'none', newEvents(100));
    const following = Following.log(store(), -1n, { categories: [newCategory()] });
    await following.until(({ pages }) => pages.at(-1)?.caughtUp === true, 'the present');
    await following.stop();
    expect(following.events).toEqual([]);
    expect(following.pages.at(-1)!.position).toBeGreaterThanOrEqual(position);
  });

  it('advances its position past new events that the filter excludes', async () => {
    const following = Following.log(store(), await store().head(), { categories: [newCategory()] });
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
      const following = Following.log(store(), position, filter);
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
    const following = Following.log(store(), await store().head(), { categories: [category] });
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
}
