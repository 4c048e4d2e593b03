import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import type { Signals } from './signals.js';
import type { Timing } from '../timing.js';
import { type Delivery, POLLED_TOPICS_MAX, Seen, Topics } from './topics.js';

const delivery: Delivery<string[]> = {
  subjectOf: (key) => `topics.${key}`,
  onSignal: (readers, payload) => readers.forEach((reader) => reader.push(payload)),
  poll: () => Promise.resolve(),
};

it('subscribes for the first reader, unsubscribes after the last, and subscribes again for the next', async () => {
  const signals = new InProcessSignals();
  const topics = new Topics(signals, delivery, systemTiming);
  const told: string[][] = [[], [], []];
  const leaving = [topics.join('k', told[0]!), topics.join('k', told[1]!)];
  expect(signals.subjects).toBe(1);
  signals.publish('topics.k', 'one');
  await pause(0);
  leaving.forEach((leave) => leave());
  expect(signals.subjects).toBe(0);
  signals.publish('topics.k', 'two');
  await pause(0);
  const leave = topics.join('k', told[2]!);
  expect(signals.subjects).toBe(1);
  signals.publish('topics.k', 'three');
  await pause(0);
  leave();
  expect(told).toEqual([['one'], ['one'], ['three']]);
});

/** Timers that the test fires. */
class HandTiming {
  readonly timers = new Set<() => unknown>();
  after(_: number, fire: () => unknown): () => void {
    this.timers.add(fire);
    return () => void this.timers.delete(fire);
  }
  async fire(): Promise<void> {
    const due = [...this.timers];
    this.timers.clear();
    for (const fire of due) fire();
    await pause(0);
  }
}

it('polls all topics with one timer, a thousand at a time, and stops after the last reader', async () => {
  const timing = new HandTiming();
  const looks: string[][] = [];
  const look: Delivery<string[]>['poll'] = (topics) => {
    looks.push([...topics.keys()]);
    return Promise.resolve();
  };
  const signals: Signals = new InProcessSignals();
  const topics = new Topics(signals, { ...delivery, poll: look }, timing as unknown as Timing);
  const keys = Array.from({ length: POLLED_TOPICS_MAX + 1 }, (_, index) => `k${index}`);
  const leaving = keys.map((key) => topics.join(key, []));
  expect(timing.timers.size).toBe(1);
  await timing.fire();
  expect(looks.map(({ length }) => length)).toEqual([POLLED_TOPICS_MAX, 1]);
  expect(timing.timers.size).toBe(1);
  leaving.forEach((leave) => leave());
  expect(timing.timers.size).toBe(0);
});

it('keeps polling after an outage of the log, unless the last reader left during it', async () => {
  const timing = new HandTiming();
  let answer: (() => void) | undefined;
  const look = () => (answer ? Promise.reject(new Error('away')) : new Promise<void>((resolve) => (answer = resolve)));
  const topics = new Topics(new InProcessSignals(), { ...delivery, poll: look }, timing as unknown as Timing);
  const leave = topics.join('k', []);
  const first = timing.fire();
  answer!();
  await first;
  expect(timing.timers.size).toBe(1);
  await timing.fire();
  expect(timing.timers.size).toBe(1);
  answer = undefined;
  const last = timing.fire();
  leave();
  answer!();
  await last;
  expect(timing.timers.size).toBe(0);
});

it('makes a reader read up to the newest revision, and stops if reads do not show it', () => {
  const seen = new Seen(4);
  expect(seen.isBehind(4)).toBe(false);
  expect([seen.isBehind(6), seen.isBehind(6), seen.isBehind(6), seen.isBehind(6)]).toEqual([true, true, true, false]);
  expect(seen.known).toBe(6);
  expect([seen.isBehind(7), seen.isBehind(7), seen.isBehind(7), seen.isBehind(7)]).toEqual([true, true, true, false]);
  seen.upTo(7);
  expect(seen.known).toBe(7);
  expect(seen.isBehind(7)).toBe(false);
});
