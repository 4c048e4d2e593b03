import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { KeyValueUnavailable } from '../../src/kernel/messaging/key-value.js';
import { holdLease, isHeld } from '../../src/kernel/messaging/lease.js';
import { InProcessKeyValue } from '../../src/platform/messaging/key-value/in-process-key-value.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { renewingEvery } from '../support/renewal-timing.js';
import { leaseContract } from './lease.contract.js';

/** A key-value store that can be made unavailable. */
class Interrupted extends InProcessKeyValue {
  away = false;
  override async get(key: string) {
    if (this.away) throw new KeyValueUnavailable('Away.');
    return super.get(key);
  }
}

const RENEW_MS = 20;
const options = { ttlMs: 300, holder: 'one', timing: renewingEvery(RENEW_MS), ids: systemIds };

describe('a lease in one process', () => {
  beforeAll(() => void jest.useFakeTimers());
  afterAll(() => void jest.useRealTimers());
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  leaseContract(async () => {
    const keyValue = new InProcessKeyValue();
    return { here: keyValue, there: keyValue, ttlMs: 300, pass, close: async () => undefined };
  });

  it('survives a store that is unavailable for less than its duration', async () => {
    const keyValue = new Interrupted();
    const lease = (await holdLease(keyValue, 'key', options))!;
    keyValue.away = true;
    await pass(options.ttlMs - 2 * RENEW_MS);
    keyValue.away = false;
    await pass(3 * options.ttlMs);
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
  });

  it('is renewed three times in its duration, so that one renewal may fail', async () => {
    const keyValue = new Interrupted();
    const lease = (await holdLease(keyValue, 'key', { ...options, timing: systemTiming }))!;
    keyValue.away = true;
    await pass(options.ttlMs / 2);
    keyValue.away = false;
    await pass(options.ttlMs);
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
  });

  it('lasts from the moment at which its renewal was asked for, however late that is answered', async () => {
    const keyValue = new Interrupted();
    const update = keyValue.update.bind(keyValue);
    keyValue.update = async (...renewal) => {
      const isRenewed = await update(...renewal);
      await systemTiming.pause(100);
      return isRenewed;
    };
    const lease = (await holdLease(keyValue, 'key', options))!;
    await pass(RENEW_MS + 99);
    keyValue.away = true;
    await pass(options.ttlMs - 100);
    expect(lease.lost.aborted).toBe(false);
    await pass(1);
    expect(lease.lost.aborted).toBe(true);
  });

  it('is free after a release that meets a renewal', async () => {
    const keyValue = new InProcessKeyValue();
    const [update, remove] = [keyValue.update.bind(keyValue), keyValue.delete.bind(keyValue)];
    keyValue.update = (...renewal) => systemTiming.pause(5).then(() => update(...renewal));
    keyValue.delete = (...release) => systemTiming.pause(10).then(() => remove(...release));
    const lease = (await holdLease(keyValue, 'key', options))!;
    await pass(RENEW_MS + 1);
    const released = lease.release();
    await pass(20);
    await released;
    expect(await isHeld(keyValue, 'key')).toBe(false);
  });

  it('is lost if the store is unavailable for longer, and its release does not throw', async () => {
    const keyValue = new Interrupted();
    const lease = (await holdLease(keyValue, 'key', options))!;
    const other = (await holdLease(keyValue, 'other', options))!;
    keyValue.away = true;
    await other.release();
    await pass(options.ttlMs);
    expect(String(lease.lost.reason)).toContain('not renewed in time');
  });
});
