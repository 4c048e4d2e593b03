import { expect, it } from '@jest/globals';

import { type EventStore, WrongRevision } from '../../src/kernel/event-sourcing/event-store.js';
import { eventsOf, eventually, ids, newEvents, newStream, revisions, type Subject } from './event-store.subject.js';

export function retentionContract(subject: () => Subject): void {
  const store = (): EventStore => subject().store;
  const appendedTo = async (stream: string, count: number) => {
    await store().append(stream, 'none', newEvents(count));
    return stream;
  };

  it('keeps only the newest events of a stream with a maximum count', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(10));
    await store().setRetention(stream, { maxCount: 3 });
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([7, 8, 9]);
    expect(revisions(await eventsOf(store().read(stream, { from: 2, limit: 2 })))).toEqual([7, 8]);
    expect(revisions(await eventsOf(store().read(stream, { direction: 'backwards' })))).toEqual([9, 8, 7]);
    expect(revisions(await eventsOf(store().read(stream, { direction: 'backwards', from: 5 })))).toEqual([]);
    await store().append(stream, 9, newEvents(2));
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([9, 10, 11]);
  });

  it('removes events of a stream with a maximum age when they expire', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(3));
    await store().setRetention(stream, { maxAgeSeconds: 1 });
    await eventually(async () => (await eventsOf(store().read(stream))).length === 0, 'the events to age');
    expect(await eventsOf(store().read(stream, { direction: 'backwards', limit: 1 }))).toEqual([]);
    expect(await store().lastRevision(stream)).toBe(2);
    await expect(store().append(stream, 'none', newEvents(1))).rejects.toMatchObject({ constructor: WrongRevision, actual: 2 });
    const late = newEvents(1);
    await store().append(stream, 2, late);
    expect(ids(await eventsOf(store().read(stream)))).toEqual(ids(late));
  });

  it('sets a maximum age together with an append, and removes its events when they expire', async () => {
    const [begun, grown] = [newStream(), newStream()];
    await store().append(grown, 'none', newEvents(2));
    expect(await store().appendWithin({ maxAgeSeconds: 1 }, begun, 'none', newEvents(3))).toMatchObject({ revision: 2 });
    const last = newEvents(1);
    // An unbounded append at the same time shares the batch.
    const [{ revision }, free] = await Promise.all([
      store().appendWithin({ maxAgeSeconds: 1 }, grown, 1, last),
      appendedTo(newStream(), 3),
    ]);
    expect(revision).toBe(2);
    expect(await store().appendWithin({ maxAgeSeconds: 1 }, grown, 1, last)).toMatchObject({ revision: 2 });
    for (const stream of [begun, grown])
      await eventually(async () => (await eventsOf(store().read(stream))).length === 0, 'the events to age');
    expect(revisions(await eventsOf(store().read(free)))).toEqual([0, 1, 2]);
    await expect(store().appendWithin({ maxAgeSeconds: 1 }, grown, 1, newEvents(1))).rejects.toMatchObject({ actual: 2 });
  });

  it('hides the events before a truncation, and lets the stream continue', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(4));
    await store().setRetention(stream, { truncateBefore: 3 });
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([3]);
    expect(revisions(await eventsOf(store().read(stream, { direction: 'backwards' })))).toEqual([3]);
    await store().append(stream, 3, newEvents(2));
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([3, 4, 5]);
    await store().setRetention(stream, { truncateBefore: 6 });
    expect(await eventsOf(store().read(stream))).toEqual([]);
    expect(await store().lastRevision(stream)).toBe(5);
    await store().setRetention(stream, { truncateBefore: 1 });
    await store().setRetention(stream, { maxCount: 9 });
    expect(await eventsOf(store().read(stream))).toEqual([]);
    await expect(store().append(stream, 'none', newEvents(1))).rejects.toMatchObject({ constructor: WrongRevision, actual: 5 });
    expect(await store().append(stream, 5, newEvents(1))).toMatchObject({ revision: 6 });
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([6]);
  });

  it('recognises a repeated append whose events are hidden by now', async () => {
    const stream = newStream();
    const batch = newEvents(2);
    const { position } = await store().append(stream, 'none', batch);
    await store().append(stream, 1, newEvents(2));
    await store().setRetention(stream, { maxCount: 2 });
    const again = await store().append(stream, 'none', batch);
    expect(again.revision).toBe(1);
    // A reader that waits for that position misses none of the events.
    expect(again.position).toBeGreaterThanOrEqual(position);
    expect(again.position).toBeLessThanOrEqual(await store().head());
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([2, 3]);
  });

  it('accepts bounds for a stream that does not exist yet', async () => {
    const stream = newStream();
    await store().setRetention(stream, { maxCount: 2, maxAgeSeconds: 3600 });
    expect(await eventsOf(store().read(stream))).toEqual([]);
    expect(await store().lastRevision(stream)).toBe('none');
    expect(await store().append(stream, 'none', newEvents(5))).toMatchObject({ revision: 4 });
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([3, 4]);
  });

  it('replaces the bounds of a stream, and leaves other streams unchanged', async () => {
    const [stream, other] = [newStream(), newStream()];
    await store().append(other, 'none', newEvents(6));
    await store().append(stream, 'none', newEvents(6));
    await store().setRetention(stream, { maxCount: 5 });
    await store().setRetention(stream, { maxCount: 2 });
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([4, 5]);
    expect(await eventsOf(store().read(other))).toHaveLength(6);
  });
}
