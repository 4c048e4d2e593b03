import { describe, expect, it } from '@jest/globals';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../platform/system-timing.js';
import { failNextReads } from '../../../test/support/away-store.js';
import { journalOver, notice, ObservedStore, storedFrames, text } from '../../../test/support/observed-journals.js';
import { eventsOf } from '../../../test/support/turns.js';
import { TextPace } from './text-pace.js';
import { BatchClock } from '../../kernel/event-sourcing/batch-clock.js';
import { messageStream } from './message.events.js';
import { MessageDigest } from './message.policy.js';
import { Journal, JournalLost, NO_WORKER_WRITER, UNSAVED_FRAMES_MAX } from './journal.js';

/** The characters that end a line for Python's `str.splitlines`. For the protocol only the first two do. */
const LINE_END = /[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

it('stores the first frame at once and batches the frames that arrive during the append', async () => {
  const store = new ObservedStore();
  const { journal, published } = journalOver(store);
  journal.write(text('a'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(store.sizes).toEqual([1]);
  for (const letter of 'bcdef') journal.write(notice(letter));
  await journal.flush();
  expect(store.sizes).toEqual([1, 5]);
  expect(published).toEqual(['0+1', '1+5']);
});

it('writes a frame as one line also for readers that split lines by Unicode’s rules', async () => {
  const store = new ObservedStore();
  const { journal } = journalOver(store);
  const answer = 'one\u0085two\u2028three\u2029four\n\v\f\x1c\x1d\x1e';
  journal.write(text(answer));
  await journal.flush();
  const { data } = (await eventsOf(store, messageStream('m1')))[0]!;
  expect(data).not.toMatch(LINE_END);
  expect(JSON.parse(data)).toEqual(text(answer));
});

it('stores a frame that is written with the next one together with it, or alone when 5 ms have passed', async () => {
  const store = new ObservedStore();
  let ring = (): void => undefined;
  const clock = { elapsedMs: () => 0, within: (_: number, work: () => void) => ((ring = work), () => undefined) };
  const moment = notice('One moment.');
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const { journal } = journalOver(store, 'w1', 'w1', clock as unknown as BatchClock);
  journal.writeWithNext(moment);
  await turn();
  expect(store.sizes).toEqual([]);
  journal.write(text('a'));
  await turn();
  expect(store.sizes).toEqual([2]);
  journal.writeWithNext(moment);
  await turn();
  ring();
  await journal.flush();
  expect(store.sizes).toEqual([2, 1]);
});

it('stores a frame also when no further frame follows', async () => {
  const store = new ObservedStore();
  const { journal } = journalOver(store);
  journal.write(text('a'));
  await new Promise((resolve) => setImmediate(resolve));
  journal.write(text('b'));
  while (journal.digest.frames < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  expect((await eventsOf(store, messageStream('m1'))).map((event) => event.revision)).toEqual([0, 1]);
});

it('stores a frame that is written in any microtask around the end of the append before it', async () => {
  for (let step = 0; step < 12; step++) {
    const store = new ObservedStore();
    const later = async () => {
      for (let passed = 0; passed < step; passed++) await Promise.resolve();
      journal.write(text('b'));
    };
    let followed: Promise<void> | undefined;
    const publisher = { publish: () => void (followed ??= later()) };
    const options = { messageId: 'm1', digest: new MessageDigest(), writer: 'w1', metadata: '{}', firstMetadata: '{}' };
    const journal = new Journal(
      new Streams(store, systemTiming),
      publisher,
      new BatchClock(systemTiming),
      new TextPace(),
      options,
    );
    journal.write(text('a'));
    while (!followed) await new Promise((resolve) => setImmediate(resolve));
    await followed;
    await journal.flush();
    expect({ step, durable: journal.digest.frames }).toEqual({ step, durable: 2 });
  }
});

it('gets its bounds once, with its last frames or, if all are stored already, without an append', async () => {
  for (const isStored of [false, true]) {
    const store = new ObservedStore();
    const bounds: unknown[] = [];
    store.setRetention = async (...bound) => void bounds.push(bound);
    const { journal } = journalOver(store);
    journal.write(text('a'));
    if (isStored) await journal.flush();
    await journal.end({ maxAgeSeconds: 60 });
    expect([bounds, store.sizes]).toEqual([[[messageStream('m1'), { maxAgeSeconds: 60 }]], [1]]);
  }
});

it('stores every frame once although the replies to its appends are lost', async () => {
  const store = new ObservedStore();
  store.unanswered = 3;
  const { journal } = journalOver(store);
  for (const letter of 'abc') journal.write(notice(letter));
  await journal.flush();
  expect(await storedFrames(store)).toEqual([...'abc'].map(notice));
});

it('makes a producer wait when it is faster than the store', async () => {
  const store = new ObservedStore();
  let open = () => {};
  store.gate = new Promise<void>((resolve) => (open = resolve));
  const { journal } = journalOver(store);
  for (let index = 0; index < UNSAVED_FRAMES_MAX + 1; index++) journal.write(notice('x'));
  await new Promise((resolve) => setImmediate(resolve));
  for (let index = 0; index < UNSAVED_FRAMES_MAX; index++) journal.write(notice('y'));
  let hasRoom = false;
  const room = journal.room().then(() => (hasRoom = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(hasRoom).toBe(false);
  open();
  await room;
});

it('is lost to the writer that appended first, reports it and publishes only stored frames', async () => {
  const store = new ObservedStore();
  const mine = journalOver(store);
  mine.journal.write(text('a'));
  await mine.journal.flush();
  await store.append(messageStream('m1'), 0, [{ id: 'other', type: 'FrameJournaled', data: '{"type":"end"}', metadata: '{}' }]);
  mine.journal.write(text('b'));
  await expect(mine.journal.flush()).rejects.toThrow(JournalLost);
  await expect(mine.journal.room()).rejects.toThrow(JournalLost);
  expect(mine.journal.lost.aborted).toBe(true);
  expect(mine.published).toEqual(['0+1']);
});

describe('a journal that begins with the notice that no worker is alive', () => {
  const stored = async (store: ObservedStore) =>
    (await eventsOf(store, messageStream('m1'))).map(({ data }) => (JSON.parse(data) as { type: string }).type);
  const beginning = { type: 'message_id', message_id: 'm1', conversation_id: null, request_id: 'r1' } as const;
  const nobody = notice('Nobody is there.');
  const noticed = async (store: ObservedStore, ...frames: Parameters<Journal['write']>[0][]) => {
    const { journal } = journalOver(store, NO_WORKER_WRITER, 'any');
    for (const frame of frames) journal.write(frame);
    await journal.flush();
  };

  it('is continued by a run that began before the notice, with every frame once and the digest of all frames', async () => {
    const store = new ObservedStore();
    const { journal, published } = journalOver(store, 'w1', 'any');
    await noticed(store, beginning, nobody);
    journal.write(beginning);
    journal.write(text('a'));
    await journal.flush();
    journal.write(text('b'));
    await journal.flush();
    expect(await stored(store)).toEqual(['message_id', 'notice', 'answer', 'answer']);
    expect(published).toEqual(['2+1', '3+1']);
    const digest = new MessageDigest();
    for (const { revision, data } of await eventsOf(store, messageStream('m1'))) digest.add(revision, data);
    expect(journal.digest.hex()).toBe(digest.hex());
  });

  it('is continued also if the store goes away before the run has read the notice', async () => {
    const store = new ObservedStore();
    const { journal } = journalOver(store, 'w1', 'any');
    await noticed(store, beginning, nobody);
    const reading = failNextReads(store, 2);
    journal.write(beginning);
    journal.write(text('a'));
    await journal.flush();
    expect(reading).toHaveBeenCalledTimes(3);
    expect(await stored(store)).toEqual(['message_id', 'notice', 'answer']);
  });

  it('is lost to a run when it contains any other frame', async () => {
    const store = new ObservedStore();
    const { journal } = journalOver(store, 'w1', 'any');
    await noticed(store, beginning, nobody, { type: 'end' });
    journal.write(beginning);
    journal.write(text('a'));
    await expect(journal.flush()).rejects.toThrow(JournalLost);
  });
});
