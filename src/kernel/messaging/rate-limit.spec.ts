import { describe, expect, it } from '@jest/globals';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { type KeyValue, type KeyValueEntry, KeyValueUnavailable } from './key-value.js';
import { RACES_MAX, type Rate, RateLimit, UNCOUNTED_MS } from './rate-limit.js';

const RATE = { max: 3, windowMs: 60_000 };

/** A store that several processes share and that the test can make unavailable. */
class Store extends InProcessKeyValue {
  isAway = false;
  asked = 0;

  override async get(key: string): Promise<KeyValueEntry | undefined> {
    this.asked++;
    if (this.isAway) throw new KeyValueUnavailable('away');
    return super.get(key);
  }
}

function limitOf(rate: Rate = RATE, store: KeyValue = new Store(), time = { now: 1_700_000_000_000 }) {
  const limit = new RateLimit(store, { now: () => new Date(time.now) }, 'tries', rate);
  return { time, take: (subject = 'ann') => limit.take(subject) };
}

const times = async (count: number, take: () => Promise<unknown>): Promise<unknown[]> => {
  const answers: unknown[] = [];
  for (let time = 0; time < count; time++) answers.push(await take());
  return answers;
};

describe('a rate limit', () => {
  it('gives all tokens at once, then one whenever one is refilled', async () => {
    const { time, take } = limitOf();
    expect(await times(5, take)).toEqual([undefined, undefined, undefined, 20, 20]);
    time.now += 15_000;
    expect(await take()).toBe(5);
    time.now += 5_000;
    expect(await times(2, take)).toEqual([undefined, 20]);
    time.now += 60_000;
    expect(await times(4, take)).toEqual([undefined, undefined, undefined, 20]);
  });

  it.each([1, 7, 100, 9_999, 10_000])('gives exactly %d tokens at once', async (max) => {
    const { take } = limitOf({ max, windowMs: 60_000 });
    expect((await times(max + 1, take)).filter((answer) => answer === undefined)).toHaveLength(max);
  });

  it('gives no additional tokens to a caller that keeps asking', async () => {
    const { time, take } = limitOf();
    let given = 0;
    for (let second = 0; second < 600; second++, time.now += 1_000) if ((await take()) === undefined) given++;
    expect(given).toBe(3 + 29);
  });

  it('counts each subject separately', async () => {
    const { take } = limitOf();
    await times(3, take);
    expect([await take('ann'), await take('bob')]).toEqual([20, undefined]);
  });

  it('counts concurrent requests, in one process and in several', async () => {
    const store = new Store();
    const time = { now: 1_700_000_000_000 };
    const rate = { max: 30, windowMs: 60_000 };
    const processes = [limitOf(rate, store, time), limitOf(rate, store, time), limitOf(rate, store, time)];
    const answers = await Promise.all(Array.from({ length: 90 }, (_, index) => processes[index % 3]!.take()));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(30);
  });

  it('refuses a caller for a second if its writes keep losing races', async () => {
    const store = new Store();
    store.create = async () => false;
    expect(await limitOf(RATE, store).take()).toBe(1);
    expect(store.asked).toBe(RACES_MAX);
  });

  it('refills a bucket within one window, whatever the clock of another process says', async () => {
    const store = new Store();
    await times(3, limitOf(RATE, store, { now: 1_700_000_900_000 }).take);
    const { time, take } = limitOf(RATE, store);
    expect(await take()).toBe(20);
    time.now += 900_000;
    expect(await take()).toBe(20);
  });

  it('counts together with a process whose clock is more than a window ahead', async () => {
    const store = new Store();
    const ahead = limitOf(RATE, store, { now: 1_700_000_120_000 });
    const { take } = limitOf(RATE, store);
    expect([await ahead.take(), await take(), await ahead.take()]).toEqual([undefined, undefined, undefined]);
    expect([await take(), await ahead.take()]).toEqual([20, 20]);
    ahead.time.now += 20_000;
    expect([await ahead.take(), await take()]).toEqual([undefined, 20]);
  });

  it('lets everyone pass while the store is unavailable, and retries it only after a while', async () => {
    const store = new Store();
    const { time, take } = limitOf(RATE, store);
    await times(3, take);
    store.isAway = true;
    const before = store.asked;
    expect(await Promise.all(Array.from({ length: 10 }, () => take()))).toEqual(Array(10).fill(undefined));
    expect(store.asked).toBe(before + 1);
    store.isAway = false;
    time.now += UNCOUNTED_MS;
    expect(await take()).toBe(15);
  });

  it('limits again after the store was away, although the clock was set back', async () => {
    const store = new Store();
    const { time, take } = limitOf(RATE, store);
    await times(3, take);
    store.isAway = true;
    await take();
    store.isAway = false;
    time.now -= 3_600_000;
    expect(await take()).toBe(20);
  });

  it('takes the value of an earlier version, a single number, for a full bucket', async () => {
    const store = new Store();
    await limitOf(RATE, store).take();
    for (const key of await store.keys('')) {
      const { revision } = (await store.get(key))!;
      await store.update(key, '1700000020000', revision);
    }
    expect(await times(4, limitOf(RATE, store).take)).toEqual([undefined, undefined, undefined, 20]);
  });

  it('stores a bounded number of values for any number of subjects', async () => {
    const store = new Store();
    const { take } = limitOf(RATE, store);
    for (let subject = 0; subject < 100_000; subject++) await take(`subject ${subject}`);
    expect(store.size).toBeLessThanOrEqual(65_536);
  });

  it('does not limit or use the store with a maximum of 0', async () => {
    const store = new Store();
    expect(await times(100, limitOf({ max: 0, windowMs: 60_000 }, store).take)).toEqual(Array(100).fill(undefined));
    expect(store.asked).toBe(0);
  });
});
