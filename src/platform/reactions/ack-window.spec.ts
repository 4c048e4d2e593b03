import { expect, it } from '@jest/globals';
import { AckWindow } from './ack-window.js';

it('moves its position past an event only when all events before it are done', () => {
  const window = new AckWindow(10n);
  const [first, second, third] = [11n, 12n, 15n].map((position) => window.add(position, new Date(0)));
  window.considered(20n);
  third!();
  second!();
  expect(window.position).toBe(10n);
  first!();
  expect(window.position).toBe(20n);
  expect(window.size).toBe(0);
});

it('counts the events that are done, without the ranges that have none', () => {
  const window = new AckWindow(10n);
  const [first, second] = [window.add(11n, new Date(0)), window.add(12n, new Date(1))];
  window.considered(20n);
  second();
  expect([window.done, window.position]).toEqual([0, 10n]);
  expect(window.ahead).toBe(2);
  first();
  expect([window.done, window.ahead, window.position]).toEqual([2, 0, 20n]);
});

it('keeps one entry for all ranges without events while it waits for an event', () => {
  const window = new AckWindow(10n);
  const first = window.add(11n, new Date(0));
  for (let position = 12n; position < 10_000n; position++) window.considered(position);
  expect(window.size).toBe(2);
  const second = window.add(10_000n, new Date(1));
  window.considered(10_001n);
  first();
  expect([window.done, window.position]).toEqual([1, 9_999n]);
  second();
  expect([window.done, window.position, window.size]).toEqual([2, 10_001n, 0]);
});
