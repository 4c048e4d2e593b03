import { expect, it } from '@jest/globals';
import { TEXT_DELAY_MS_MAX, TEXT_DELAY_MS_MIN, TextPace } from './text-pace.js';

const JOURNALS = Array.from({ length: 1_000 }, (_, number) => ({ number }));

/** The longest delay that the first of these journals get when each appends once. */
const longest = (pace: TextPace, count: number, nowMs: number): number =>
  Math.max(...JOURNALS.slice(0, count).map((journal) => pace.delayMs(journal, nowMs)));

it.each([
  [1, TEXT_DELAY_MS_MIN],
  [25, 5],
  [100, 20],
  [200, 40],
  [1_000, TEXT_DELAY_MS_MAX],
])('with %d journals, text waits %d ms', (count, ms) => {
  expect(longest(new TextPace(), count, 0)).toBe(ms);
});

it('counts a journal once, however often it appends', () => {
  const pace = new TextPace();
  for (let nowMs = 0; nowMs < 1_000; nowMs++) expect(pace.delayMs(JOURNALS[0]!, nowMs)).toBe(TEXT_DELAY_MS_MIN);
});

it('forgets journals that no longer append', () => {
  const pace = new TextPace();
  longest(pace, 200, 0);
  expect(pace.delayMs(JOURNALS[0]!, 100)).toBe(40);
  expect(pace.delayMs(JOURNALS[0]!, 200)).toBe(TEXT_DELAY_MS_MIN);
});

it('forgets all journals after a pause', () => {
  const pace = new TextPace();
  longest(pace, 200, 0);
  expect(pace.delayMs(JOURNALS[0]!, 250)).toBe(TEXT_DELAY_MS_MIN);
});
