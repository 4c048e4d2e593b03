import { expect, it } from '@jest/globals';

import { type EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { appendSurely } from '../support/append-surely.js';
import {
  type Abilities,
  eventsIn,
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

  it('delivers existing events and then new ones', async () => {
    const stream = newStream();
    const past = newEvents(3);
    await store().append(stream, 'none', past);
    const following = await Following.stream(store(), stream).count(3);
    const coming = newEvents(50);
    for (const [index, event] of coming.entries()) await store().append(stream, 2 + index, [event]);
    await following.count(53);
    expect(ids((await following.stop()).events)).toEqual(ids([...past, ...coming]));
  });

  it('starts after a revision, without the event at that revision', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(6));
    const following = await Following.stream(store(), stream, 2).count(3);
    await store().append(stream, 5, newEvents(1));
    await following.count(4);
    expect(revisions((await following.stop()).events)).toEqual([3, 4, 5, 6]);
  });

  it('waits for a stream that does not exist yet', async () => {
    const stream = newStream();
    const following = Following.stream(store(), stream);
    await store().append(newStream(), 'none', newEvents(1));
    await store().append(stream, 'none', newEvents(2));
    await following.count(2);
    expect(revisions((await following.stop()).events)).toEqual([0, 1]);
  });

  it('waits for a start revision beyond the end', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(2));
    const following = Following.stream(store(), stream, 3);
    await store().append(stream, 1, newEvents(1));
    await store().append(stream, 2, newEvents(2));
    await store().append(stream, 4, newEvents(1));
    await following.count(2);
    expect(revisions((await following.stop()).events)).toEqual([4, 5]);
  });

  it('ends without an error when it is aborted: before the start, while it waits, and while a page is being handled', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(2000));
    for await (const _ of store().follow(stream, -1, AbortSignal.abort())) throw new Error('Nothing was to come.');
    for await (const _ of store().followAll(-1n, {}, AbortSignal.abort())) throw new Error('Nothing was to come.');
    const waiting = await Following.stream(store(), stream).count(2000);
    await waiting.stop();
    const waitingForLog = await Following.log(store(), await store().head()).until(({ pages }) => pages.length > 0, 'a page');
    await waitingForLog.stop();
    for (const follow of [
      (signal: AbortSignal) => store().follow(stream, -1, signal),
      (signal: AbortSignal) => store().followAll(-1n, {}, signal),
    ]) {
      const stopping = new AbortController();
      let pages = 0;
      for await (const _ of follow(stopping.signal)) {
        pages += 1;
        stopping.abort();
      }
      expect(pages).toBe(1);
    }
  });

  it('lets a follower stop by itself', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(10));
    const { signal } = new AbortController();
    for (let times = 0; times < 20; times++)
      for await (const page of store().follow(stream, -1, signal)) if (page.length > 0) break;
    const following = await Following.stream(store(), stream).count(10);
    await following.stop();
  });

  it('delivers everything to each of many followers', async () => {
    const stream = newStream();
    const followers = range(1, 50).map(() => Following.stream(store(), stream));
    for (const revision of range(0, 29)) await store().append(stream, revision === 0 ? 'none' : revision - 1, newEvents(1));
    for (const follower of followers) {
      await follower.count(30);
      expect(revisions((await follower.stop()).events)).toEqual(range(0, 29));
    }
  });

  if (can.delivered) {
    it.each(['stream', 'log'])('stops sending when a follower of the %s does not ask for more', async (what) => {
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
      const pages =
        what === 'stream' ? store().follow(stream, -1, signal) : store().followAll(after, { categories: [category] }, signal);
      const seen: number[] = [];
      for await (const page of pages) {
        if (seen.length === 0) {
          const delivered = await settled(subject().delivered!);
          expect((delivered - before) * data.length).toBeLessThan(AHEAD_BYTES_BOUND);
        }
        seen.push(...revisions(eventsIn(page)));
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
      const followers = range(1, 5).map(() => Following.stream(store(), stream));
      const log = Following.log(store(), after, { categories: [category] });
      await store().append(stream, 'none', newEvents(10));
      await Promise.all([log.count(10), ...followers.map((follower) => follower.count(10))]);
      await subject().restart!();
      await appendSurely(store(), stream, 9, newEvents(5));
      await Promise.all([log.count(15), ...followers.map((follower) => follower.count(15))]);
      for (const following of [log, ...followers]) expect(revisions((await following.stop()).events)).toEqual(range(0, 14));
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
