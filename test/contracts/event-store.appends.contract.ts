import { expect, it } from '@jest/globals';

import {
  APPEND_BYTES_MAX,
  appendBytes,
  AppendTooLarge,
  type EventStore,
  type ExpectedRevision,
  StreamGone,
  WrongRevision,
} from '../../src/kernel/event-sourcing/event-store.js';
import { appendSurely } from '../support/append-surely.js';
import {
  type Abilities,
  eventsOf,
  eventually,
  ids,
  newEvent,
  newEvents,
  newStream,
  PATIENCE_MS,
  range,
  revisions,
  type Subject,
} from './event-store.subject.js';

const refusal = (stream: string, expected: ExpectedRevision, actual: ExpectedRevision) =>
  expect.objectContaining({ constructor: WrongRevision, stream, expected, actual });

/** An event that makes an append exactly this many bytes long. */
function filling(bytes: number, unit = 'x') {
  const empty = newEvent({ data: '""' });
  const room = bytes - appendBytes([empty]);
  const size = Buffer.byteLength(unit);
  return { ...empty, data: `"${unit.repeat(Math.floor(room / size))}${'x'.repeat(room % size)}"` };
}

export function appendsContract(subject: () => Subject, can: Abilities): void {
  const store = (): EventStore => subject().store;

  it('returns the revision and the position of the last event of an append', async () => {
    const stream = newStream();
    const first = await store().append(stream, 'none', newEvents(3));
    expect(first.revision).toBe(2);
    const second = await store().append(stream, 2, newEvents(1));
    expect(second.revision).toBe(3);
    expect(second.position).toBeGreaterThan(first.position);
    const stored = await eventsOf(store().read(stream));
    expect(revisions(stored)).toEqual([0, 1, 2, 3]);
    expect([stored[2]!.position, stored[3]!.position]).toEqual([first.position, second.position]);
  });

  it('refuses an append that expects no stream if there is one, and reports its revision', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(2));
    await expect(store().append(stream, 'none', newEvents(1))).rejects.toEqual(refusal(stream, 'none', 1));
  });

  it('refuses an append that expects a revision if there is no stream', async () => {
    const stream = newStream();
    await expect(store().append(stream, 0, newEvents(1))).rejects.toEqual(refusal(stream, 0, 'none'));
    expect(await eventsOf(store().read(stream))).toEqual([]);
  });

  it.each([
    ['behind', 1],
    ['ahead of', 7],
  ])('refuses an append that expects a revision %s the stream, and writes nothing', async (_, expected) => {
    const stream = newStream();
    const before = newEvents(4);
    await store().append(stream, 'none', before);
    await expect(store().append(stream, expected, newEvents(2))).rejects.toEqual(refusal(stream, expected, 3));
    expect(ids(await eventsOf(store().read(stream)))).toEqual(ids(before));
  });

  it('refuses an append without events', async () => {
    await expect(store().append(newStream(), 'none', [])).rejects.toThrow(RangeError);
  });

  it('writes a large batch completely and in order', async () => {
    const stream = newStream();
    const batch = newEvents(2500);
    expect((await store().append(stream, 'none', batch)).revision).toBe(2499);
    expect(ids(await eventsOf(store().read(stream)))).toEqual(ids(batch));
  });

  it('recognises a repeated append that expects no stream', async () => {
    const stream = newStream();
    const batch = newEvents(3);
    const first = await store().append(stream, 'none', batch);
    expect(await store().append(stream, 'none', batch)).toEqual(first);
    expect(await eventsOf(store().read(stream))).toHaveLength(3);
  });

  it('recognises a repeated append that expects a revision, even after later appends', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(2));
    const batch = newEvents(2);
    const first = await store().append(stream, 1, batch);
    expect(await store().append(stream, 1, batch)).toEqual(first);
    await store().append(stream, 3, newEvents(5));
    expect(await store().append(stream, 1, batch)).toEqual(first);
    expect(await eventsOf(store().read(stream))).toHaveLength(9);
  });

  it('recognises the first part of an earlier append as a repetition', async () => {
    const stream = newStream();
    const batch = newEvents(4);
    await store().append(stream, 'none', batch);
    const stored = await eventsOf(store().read(stream));
    expect(await store().append(stream, 'none', batch.slice(0, 2))).toEqual({ revision: 1, position: stored[1]!.position });
    expect(await eventsOf(store().read(stream))).toHaveLength(4);
  });

  it('refuses a repetition with another id, in another order, or with additional events', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(1));
    const batch = newEvents(2);
    await store().append(stream, 0, batch);
    await expect(store().append(stream, 0, [batch[0]!, newEvent()])).rejects.toEqual(refusal(stream, 0, 2));
    await expect(store().append(stream, 0, [newEvent(), batch[1]!])).rejects.toEqual(refusal(stream, 0, 2));
    await expect(store().append(stream, 0, [...batch].reverse())).rejects.toEqual(refusal(stream, 0, 2));
    await expect(store().append(stream, 0, [...batch, newEvent()])).rejects.toEqual(refusal(stream, 0, 2));
    expect(await eventsOf(store().read(stream))).toHaveLength(3);
  });

  it('lets exactly one of many writers at one revision win', async () => {
    const stream = newStream();
    await store().append(stream, 'none', newEvents(1));
    const attempts = range(1, 20).map(() => newEvents(2));
    const results = await Promise.allSettled(attempts.map((batch) => store().append(stream, 0, batch)));
    const winner = results.findIndex(({ status }) => status === 'fulfilled');
    const lost = results.filter((result) => result.status === 'rejected');
    expect(lost).toHaveLength(19);
    for (const { reason } of lost) expect(reason).toEqual(refusal(stream, 0, 2));
    expect(ids(await eventsOf(store().read(stream, { from: 1 })))).toEqual(ids(attempts[winner]!));
  });

  it('writes an append once when it is sent many times at once', async () => {
    const stream = newStream();
    const batch = newEvents(2);
    // A server drops an append that is identical to one under way and reports a timeout. The caller then has to repeat it.
    const answers = await Promise.all(range(1, 10).map(() => appendSurely(store(), stream, 'none', batch, PATIENCE_MS)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(ids(await eventsOf(store().read(stream)))).toEqual(ids(batch));
  });

  it('lets the loser of a race read what the winner wrote, if not at once then soon', async () => {
    const [stream, loser] = [newStream(), newEvents(1)];
    const winning = store().append(stream, 'none', newEvents(2));
    const lost = await store()
      .append(stream, 'none', loser)
      .catch((error: unknown) => error);
    expect(lost).toEqual(refusal(stream, 'none', 1));
    await eventually(async () => (await store().lastRevision(stream)) === 1, 'the winning append');
    expect(revisions(await eventsOf(store().read(stream)))).toEqual([0, 1]);
    expect(await winning).toMatchObject({ revision: 1 });
  });

  it('shows events as soon as their append has succeeded', async () => {
    const stream = newStream();
    for (let revision = 0; revision < 20; revision++) {
      await store().append(stream, revision === 0 ? 'none' : revision - 1, newEvents(1));
      expect(await store().lastRevision(stream)).toBe(revision);
      expect(revisions(await eventsOf(store().read(stream, { from: revision })))).toEqual([revision]);
    }
  });

  it.each([
    ['one-byte', 'x'],
    ['four-byte', '😀'],
  ])('accepts an append of exactly the maximum size in %s characters', async (_, unit) => {
    const stream = newStream();
    const event = filling(APPEND_BYTES_MAX, unit);
    expect(appendBytes([event])).toBe(APPEND_BYTES_MAX);
    await store().append(stream, 'none', [event]);
    const [stored] = await eventsOf(store().read(stream));
    expect(stored!.data === event.data).toBe(true);
  });

  it('refuses an append one byte over the maximum size, and writes nothing of it', async () => {
    const stream = newStream();
    const small = newEvent();
    const events = [small, filling(APPEND_BYTES_MAX + 1 - appendBytes([small]))];
    const refused = store().append(stream, 'none', events);
    await expect(refused).rejects.toBeInstanceOf(AppendTooLarge);
    await expect(refused).rejects.toMatchObject({ stream, bytes: APPEND_BYTES_MAX + 1 });
    expect(await eventsOf(store().read(stream))).toEqual([]);
    expect(await store().append(stream, 'none', [small])).toMatchObject({ revision: 0 });
  });

  if (can.bury) {
    it('refuses appends to and reads of a permanently deleted stream', async () => {
      const stream = newStream();
      await store().append(stream, 'none', newEvents(2));
      await subject().bury!(stream);
      await expect(store().append(stream, 1, newEvents(1))).rejects.toBeInstanceOf(StreamGone);
      await expect(eventsOf(store().read(stream))).rejects.toBeInstanceOf(StreamGone);
    });

    it('ignores a permanently deleted stream in `grownPast` and `setRetention`', async () => {
      const [gone, grown] = [newStream(), newStream()];
      for (const stream of [gone, grown]) await store().append(stream, 'none', newEvents(2));
      await subject().bury!(gone);
      expect(await store().grownPast(new Map([gone, grown].map((stream) => [stream, 0])))).toEqual(new Map([[grown, 1]]));
      for (const bounds of [{ truncateBefore: 1 }, { maxAgeSeconds: 3600 }]) await store().setRetention(gone, bounds);
    });
  }
}
