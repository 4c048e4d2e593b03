import { expect, it } from '@jest/globals';
import { withoutMachine } from './no-machine.js';

const takes: readonly [name: string, take: () => unknown][] = [
  ['setTimeout', () => clearTimeout(setTimeout(() => undefined, 1))],
  ['setInterval', () => clearInterval(setInterval(() => undefined, 1))],
  ['setImmediate', () => clearImmediate(setImmediate(() => undefined))],
  ['new Date()', () => new Date()],
  ['Date.now', () => Date.now()],
  ['performance.now', () => performance.now()],
  ['crypto.randomUUID', () => crypto.randomUUID()],
  ['Math.random', () => Math.random()],
  ['AbortSignal.timeout', () => AbortSignal.timeout(1)],
];

it.each(takes)('the ban detects a caller that takes %s from the machine, even if the error is caught', (name, take) => {
  const leave = withoutMachine();
  let thrown: unknown;
  try {
    take();
  } catch (error) {
    thrown = error;
  }
  expect(leave).toThrow(`The simulation took of the machine: ${name}.`);
  expect(String(thrown)).toContain(name);
  expect(take).not.toThrow();
});

it('the ban allows dates with a given time', () => {
  const leave = withoutMachine();
  const at = new Date(0).toISOString();
  leave();
  expect(at).toBe('1970-01-01T00:00:00.000Z');
});
