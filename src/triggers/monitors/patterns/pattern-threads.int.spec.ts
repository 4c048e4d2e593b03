import { expect, it } from '@jest/globals';
import { PatternTooSlow } from './patterns.port.js';
import { PatternThreads } from './pattern-threads.js';

const patterns = new PatternThreads();

it('returns the matches in order, up to the maximum', async () => {
  expect(await patterns.matches('\\b[A-Z]{2}-\\d+', 'AB-1, then CD-22 and EF-3', 2)).toEqual(['AB-1', 'CD-22']);
  expect(await patterns.matches('sold out', 'There is some left.', 2)).toEqual([]);
  expect(await patterns.matches('^b$', 'a\nb\nc', 2)).toEqual(['b']);
});

it('ignores case for a pattern that starts with (?i)', async () =>
  expect(await patterns.matches('(?i)sold out', 'SOLD OUT', 2)).toEqual(['SOLD OUT']));

it('rejects an invalid pattern', () => expect(patterns.matches('(', 'text', 2)).rejects.toBeInstanceOf(SyntaxError));

it('stops a backtracking pattern while other work continues', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 20);
  const bomb = new PatternThreads(300).matches('^(a+)+$', `${'a'.repeat(50)}b`, 1);
  await expect(bomb).rejects.toBeInstanceOf(PatternTooSlow);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(3);
});

it('queues patterns that exceed the number of threads', async () => {
  const found = await Promise.all(Array.from({ length: 6 }, (_, index) => patterns.matches(`${index}`, '0 1 2 3 4 5', 2)));
  expect(found).toEqual(['0', '1', '2', '3', '4', '5'].map((digit) => [digit]));
});
