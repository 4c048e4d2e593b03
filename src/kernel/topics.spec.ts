import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { InProcessSignals } from '../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../platform/system-timing.js';
import { type Delivery, Topics } from './topics.js';

const delivery: Delivery<string[]> = {
  subjectOf: (key) => `topics.${key}`,
  tell: (readers, payload) => readers.forEach((reader) => reader.push(payload)),
  look: () => Promise.resolve(),
};

it('subscribes for the first reader, lets go after the last, and subscribes anew for the next', async () => {
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
