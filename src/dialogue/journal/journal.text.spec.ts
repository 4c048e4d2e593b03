import { expect, it } from '@jest/globals';
import type { BatchClock } from '../../kernel/event-sourcing/batch-clock.js';
import { journalOver, notice, ObservedStore, storedFrames, text, thought } from '../../../test/support/observed-journals.js';
import { JOINED_CHARACTERS_MAX, UNSAVED_FRAMES_MAX } from './journal.js';
import type { TextPace } from './text-pace.js';

it('joins the text that waits for the same append', async () => {
  const store = new ObservedStore();
  const { journal, published } = journalOver(store);
  journal.write(text('a'));
  await new Promise((resolve) => setImmediate(resolve));
  for (const letter of 'bcdef') journal.write(text(letter));
  await journal.flush();
  expect(await storedFrames(store)).toEqual([text('a'), text('bcdef')]);
  expect(published).toEqual(['0+1', '1+1']);
});

it('joins no text of different kinds or around another frame, and keeps the order', async () => {
  const store = new ObservedStore();
  const { journal } = journalOver(store);
  const written = [thought('a'), thought('b'), text('c'), text('d'), notice('e'), text('f'), text('g'), thought('h')];
  for (const frame of written) journal.write(frame);
  await journal.flush();
  expect(await storedFrames(store)).toEqual([thought('ab'), text('cd'), notice('e'), text('fg'), thought('h')]);
});

it('joins text up to a length, and splits none', async () => {
  const store = new ObservedStore();
  const { journal } = journalOver(store);
  const [half, long] = ['h'.repeat(JOINED_CHARACTERS_MAX / 2), 'l'.repeat(JOINED_CHARACTERS_MAX + 1)];
  for (const piece of [half, half, 'a', long, 'b']) journal.write(text(piece));
  await journal.flush();
  expect(await storedFrames(store)).toEqual([text(half + half), text('a'), text(long), text('b')]);
});

it('stores the first text at once, also right after another frame', async () => {
  const store = new ObservedStore();
  const { journal } = journalOver(store);
  journal.write(notice('One moment.'));
  await journal.flush();
  journal.write(text('a'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(store.sizes).toEqual([1, 1]);
  await journal.flush();
});

it('lets a text wait until the last append is 5 ms old, unless a timer would take longer', async () => {
  const store = new ObservedStore();
  const waits: number[] = [];
  let nowMs = 0;
  const clock = { elapsedMs: () => nowMs, within: (ms: number) => (waits.push(ms), () => undefined) };
  const { journal } = journalOver(store, 'w1', 'w1', clock as unknown as BatchClock);
  for (const [atMs, letter] of [
    [0, 'a'],
    [4, 'b'],
    [7, 'c'],
  ] as const) {
    nowMs = atMs;
    journal.write(text(letter));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect({ sizes: store.sizes, waits }).toEqual({ sizes: [1, 1], waits: [2] });
  await journal.flush();
  expect(store.sizes).toEqual([1, 1, 1]);
});

it('lets texts wait longer when the process writes many journals', async () => {
  const store = new ObservedStore();
  const waits: number[] = [];
  const clock = { elapsedMs: () => 4, within: (ms: number) => (waits.push(ms), () => undefined) };
  const pace = { delayMs: () => 40 };
  const { journal } = journalOver(store, 'w1', 'w1', clock as unknown as BatchClock, pace as unknown as TextPace);
  for (const letter of ['a', 'b']) {
    journal.write(text(letter));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect({ sizes: store.sizes, waits }).toEqual({ sizes: [1], waits: [40] });
  await journal.flush();
});

it('stores texts at once when no further frame has room', async () => {
  const store = new ObservedStore();
  const clock = { elapsedMs: () => 0, within: () => () => undefined };
  const { journal } = journalOver(store, 'w1', 'w1', clock as unknown as BatchClock);
  journal.write(text('a'));
  await new Promise((resolve) => setImmediate(resolve));
  for (let count = 0; count < UNSAVED_FRAMES_MAX; count++) journal.write(count % 2 ? text('c') : thought('b'));
  await journal.room();
  expect(store.sizes).toEqual([1, UNSAVED_FRAMES_MAX]);
});
