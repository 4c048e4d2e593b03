import { describe, expect, it } from '@jest/globals';
import { KeyValueUnavailable } from '../../src/kernel/key-value.js';
import { holdLease } from '../../src/kernel/lease.js';
import { InProcessKeyValue } from '../../src/platform/key-value/in-process-key-value.js';
import { eventually } from '../support/eventually.js';
import { leaseContract } from './lease.contract.js';

/** Key-value that can be away. */
class Interrupted extends InProcessKeyValue {
  away = false;
  override async get(key: string) {
    if (this.away) throw new KeyValueUnavailable('Away.');
    return super.get(key);
  }
}

const options = { ttlMs: 300, renewMs: 20, holder: 'one' };

describe('a lease in one process', () => {
  leaseContract(async () => {
    const keyValue = new InProcessKeyValue();
    return { here: keyValue, there: keyValue, close: async () => undefined };
  });

  it('outlasts a store that is away for less than its time', async () => {
    const keyValue = new Interrupted();
    const lease = (await holdLease(keyValue, 'key', options))!;
    const before = (await keyValue.get('key'))!.revision;
    keyValue.away = true;
    setTimeout(() => (keyValue.away = false), 100);
    await eventually(async () => (await keyValue.get('key'))!.revision > before + 10);
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
  });

  it('is lost where the store is away for longer, and its release does not throw', async () => {
    const keyValue = new Interrupted();
    const lease = (await holdLease(keyValue, 'key', options))!;
    const other = (await holdLease(keyValue, 'other', options))!;
    keyValue.away = true;
    await other.release();
    await eventually(() => lease.lost.aborted);
    expect(String(lease.lost.reason)).toContain('not renewed in time');
  });
});
