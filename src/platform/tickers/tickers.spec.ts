import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { eventually } from '../../../test/support/eventually.js';
import { systemTiming } from '../system-timing.js';
import { Tickers } from './tickers.js';

const log = pino({ level: 'silent' });
const clock = { now: () => new Date() };

describe('a ticker', () => {
  it('ticks at once and then periodically, never concurrently, and has ended when stop resolves', async () => {
    let ticks = 0;
    let running = 0;
    let most = 0;
    const tick = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 12));
      running--;
      ticks++;
    };
    const tickers = new Tickers([{ name: 'slower-than-its-grid', everyMs: 5, tick }], clock, systemTiming, log);
    tickers.start();
    await eventually(() => ticks >= 4);
    await tickers.stop();
    expect([running, most]).toEqual([0, 1]);
    const after = ticks;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(ticks).toBe(after);
  });

  it('does not tick twice when a pause ends a moment early', async () => {
    const at: number[] = [];
    let now = 0;
    const early = Object.assign(Object.create(systemTiming) as typeof systemTiming, {
      elapsedMs: () => now,
      pause: async (ms: number) => void (now += ms - 0.5),
    });
    const tick = async () => {
      if (at.push(now) === 4) void tickers.stop();
      if (at.length === 2) now += 25;
    };
    const tickers = new Tickers([{ name: 'prompt', everyMs: 10, tick }], clock, early, log);
    tickers.start();
    await eventually(() => at.length >= 4);
    await tickers.stop();
    expect(at).toEqual([0, 9.5, 39.5, 49.5]);
  });

  it('continues after a failure and does not affect another ticker', async () => {
    const ticks = { good: 0, bad: 0 };
    const bad = async () => {
      ticks.bad++;
      throw new Error('bad');
    };
    const good = async () => void ticks.good++;
    const tickers = new Tickers([{ name: 'bad', everyMs: 3, tick: bad }, { name: 'good', everyMs: 3, tick: good }], clock, systemTiming, log); // oxfmt-ignore
    tickers.start();
    await eventually(() => ticks.good >= 3 && ticks.bad >= 3);
    await tickers.stop();
  });
});
