import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { KeyValueUnavailable } from '../../src/kernel/messaging/key-value.js';
import { holdLease, isHeld, type Lease } from '../../src/kernel/messaging/lease.js';
import { NatsKeyValue } from '../../src/platform/messaging/key-value/nats-key-value.js';
import { NatsConnection } from '../../src/platform/messaging/nats/nats-connection.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { eventually } from '../support/eventually.js';
import { NatsServer } from '../support/nats-server.js';
import { renewingEvery } from '../support/renewal-timing.js';
import { retryWhile } from '../support/retry-while.js';
import { leaseContract } from './lease.contract.js';

const RENEW_MS = 100;

/** The lease of the first key whose claim is answered in time. A claim without an answer may still take effect. */
async function leaseWithRetry(keyValue: NatsKeyValue, ttlMs: number): Promise<Lease> {
  const options = { ttlMs, holder: 'one', timing: renewingEvery(RENEW_MS), ids: systemIds };
  return retryWhile(KeyValueUnavailable, async (attempt) => (await holdLease(keyValue, `key-${attempt}`, options))!);
}

describe('a lease over NATS', () => {
  leaseContract(async () => {
    const server = await NatsServer.start();
    const [one, two] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
    const close = async () => {
      await Promise.all([one.close(), two.close()]);
      await server.stop();
    };
    return { here: new NatsKeyValue(one), there: new NatsKeyValue(two), ttlMs: 8_000, pass: pause, close };
  });

  it('survives a restart of the server that is shorter than its duration', async () => {
    const server = await NatsServer.start();
    const nats = new NatsConnection({ url: server.url });
    const keyValue = new NatsKeyValue(nats);
    const lease = await leaseWithRetry(keyValue, 60_000);
    const renewed = async () => (await keyValue.get(lease.key))?.revision ?? 0;
    await server.kill();
    // The server is away for longer than a request waits for it, so that renewals fail too and are retried.
    await expect(keyValue.get(lease.key)).rejects.toThrow(KeyValueUnavailable);
    await server.restart();
    const before = await retryWhile(KeyValueUnavailable, renewed);
    await eventually(async () => (await renewed()) > before + 3);
    expect(lease.lost.aborted).toBe(false);
    expect(await retryWhile(KeyValueUnavailable, () => isHeld(keyValue, lease.key))).toBe(true);
    await lease.release();
    expect(await retryWhile(KeyValueUnavailable, () => isHeld(keyValue, lease.key))).toBe(false);
    await nats.close();
    await server.stop();
  });

  it.each([-10, 10])('lasts while it is renewed, also for a process whose clock is %d minutes off', async (minutes) => {
    const server = await NatsServer.start();
    const [one, two] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
    const [here, there] = [new NatsKeyValue(one), new NatsKeyValue(two)];
    const [clock, ttlMs] = [Date.now, 60_000];
    try {
      const lease = (await holdLease(here, 'key', { ttlMs, holder: 'one', timing: renewingEvery(RENEW_MS), ids: systemIds }))!;
      await here.put('brief', 'x', { ttlMs: 200 });
      Date.now = () => clock() + minutes * 60_000;
      expect(await isHeld(there, 'key')).toBe(true);
      expect(
        await holdLease(there, 'key', { ttlMs, holder: 'two', timing: renewingEvery(RENEW_MS), ids: systemIds }),
      ).toBeUndefined();
      await eventually(async () => (await there.get('brief')) === undefined);
      expect(lease.lost.aborted).toBe(false);
    } finally {
      Date.now = clock;
    }
    await Promise.all([one.close(), two.close()]);
    await server.stop();
  });

  it('is reported as lost to a holder whose server stays down', async () => {
    const server = await NatsServer.start();
    const nats = new NatsConnection({ url: server.url, deadlineMs: 200 });
    const lease = await leaseWithRetry(new NatsKeyValue(nats), 3_000);
    await server.kill();
    await eventually(() => lease.lost.aborted);
    await nats.close();
    await server.stop();
  });
});
