import { describe, expect, it } from '@jest/globals';
import type { Timing } from '../../src/kernel/timing.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { Actor } from '../simulation/kernel/actor.js';
import { ActorTiming } from '../simulation/kernel/actor-timing.js';
import { Simulation } from '../simulation/kernel/simulation.js';
import { VirtualTiming } from '../support/virtual-timing.js';

/** `pass` lets at least this much time pass. */
type Subject = Readonly<{ timing: Timing; pass: (ms: number) => Promise<void> }>;

function simulated(): Subject {
  const world = new Actor('world');
  const simulation = new Simulation(1, world);
  const pass = async (ms: number) => {
    let isOver = false;
    simulation.after(ms, world, 'is over', () => (isOver = true));
    await simulation.run(() => isOver);
  };
  return { timing: new ActorTiming(simulation, world, simulation.random('timing')), pass };
}

function virtual(): Subject {
  const timing = new VirtualTiming();
  return { timing, pass: (ms) => timing.pause(ms) };
}

const subjects: readonly [name: string, make: () => Subject][] = [
  ['the machine', () => ({ timing: systemTiming, pass: (ms) => systemTiming.pause(ms) })],
  ['tests', virtual],
  ['the simulation', simulated],
];

describe.each(subjects)('the timing of %s', (_name, make) => {
  it('never goes back', async () => {
    const { timing, pass } = make();
    const before = timing.elapsedMs();
    await pass(5);
    expect(timing.elapsedMs()).toBeGreaterThan(before);
  });

  it('calls back once per timer, in the order of times', async () => {
    const { timing, pass } = make();
    const called: number[] = [];
    for (const ms of [30, 10, 20]) timing.after(ms, () => called.push(ms));
    timing.after(15, () => called.push(15), { unref: true });
    expect(called).toEqual([]);
    await pass(60);
    await pass(60);
    expect(called).toEqual([10, 15, 20, 30]);
  });

  it('does not call back after a cancellation, and accepts a late cancellation', async () => {
    const { timing, pass } = make();
    const called: string[] = [];
    const cancel = timing.after(5, () => called.push('cancelled'));
    const late = timing.after(5, () => called.push('late'));
    cancel();
    await pass(20);
    late();
    expect(called).toEqual(['late']);
  });

  it('calls back repeatedly until it is cancelled, even by the callback itself', async () => {
    const { timing, pass } = make();
    let calls = 0;
    const cancel = timing.every(5, () => {
      if (++calls === 3) cancel();
    });
    while (calls < 3) await pass(5);
    await pass(20);
    expect(calls).toBe(3);
  });

  it('has deadlines that abort like a timeout', async () => {
    const { timing, pass } = make();
    const signal = timing.deadline(10);
    expect(signal.aborted).toBe(false);
    while (!signal.aborted) await pass(5);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('ends a pause when its signal aborts, and at once if it has aborted before', async () => {
    const { timing, pass } = make();
    const off = new AbortController();
    timing.after(5, () => off.abort());
    let isOver = false;
    const pause = timing.pause(60_000, off.signal).then(() => (isOver = true));
    await pass(30);
    expect(isOver).toBe(true);
    await pause;
    await timing.pause(60_000, off.signal);
  });

  it('has random numbers from 0 to 1', () => {
    const { timing } = make();
    const chances = Array.from({ length: 50 }, () => timing.random());
    for (const chance of chances) expect(chance >= 0 && chance < 1).toBe(true);
    expect(new Set(chances).size).toBeGreaterThan(1);
  });
});

it('passes no time for an interval or an unref timer, so that tests wait only for what keeps the process alive', async () => {
  const timing = new VirtualTiming();
  let calls = 0;
  timing.every(5, () => calls++);
  timing.after(5, () => calls++, { unref: true });
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([calls, timing.elapsedMs()]).toEqual([0, 0]);
});
