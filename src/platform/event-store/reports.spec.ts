import { expect, it } from '@jest/globals';
import type { StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { Reports } from './reports.js';

let now = 0;
const event = {} as StoredEvent;
const page = (position: bigint, caughtUp: boolean, events: readonly StoredEvent[] = []) => ({ events, position, caughtUp });

it('a follower is sent every page with events, and each time the first one that reaches the end of the log', () => {
  const reports = new Reports(-1n, () => now);
  const sent = [
    page(3n, false, [event]),
    page(5n, false),
    page(7n, true),
    page(8n, true),
    page(9n, true, [event]),
    page(20n, false),
    page(20n, true),
  ].map((each) => reports.isDue(each));
  expect(sent).toEqual([true, false, true, false, true, false, true]);
});

it('a follower without events is sent its position once in 200 ms, and waits without a limit if it has it', () => {
  const reports = new Reports(-1n, () => now);
  expect([reports.isDue(page(-1n, true)), reports.waitMsAt(-1n)]).toEqual([true, undefined]);
  expect([reports.isDue(page(4n, true)), reports.waitMsAt(4n)]).toEqual([false, 200]);
  now += 200;
  expect([reports.isDue(page(-1n, true)), reports.isDue(page(6n, true)), reports.isDue(page(7n, true))]).toEqual([
    false,
    true,
    false,
  ]);
});
