import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { holdLease, isHeld } from '../../src/kernel/messaging/lease.js';
import { NatsKeyValue } from '../../src/platform/messaging/key-value/nats-key-value.js';
import { NatsConnection } from '../../src/platform/messaging/nats/nats-connection.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { eventually } from '../support/eventually.js';
import { NatsServer } from '../support/nats-server.js';
import { leaseContract } from './lease.contract.js';

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
    const nats = new NatsConnection({ url: server.url, deadlineMs: 500 });
    const keyValue = new NatsKeyValue(nats);
    const lease = (await holdLease(keyValue, 'key', {
      ttlMs: 60_000,
      renewMs: 100,
      holder: 'one',
      timing: systemTiming,
      ids: systemIds,
    }))!;
    const renewed = async () => (await keyValue.get('key'))?.revision ?? 0;
    const before = await renewed();
    await server.restart();
    await eventually(async () => (await renewed()) > before + 3);
    expect(lease.lost.aborted).toBe(false);
    expect(await isHeld(keyValue, 'key')).toBe(true);
    await lease.release();
    expect(await isHeld(keyValue, 'key')).toBe(false);
    await nats.close();
    await server.stop();
  });

  it.each([-10, 10])('lasts while it is renewed, also for a process whose clock is %d minutes off', async (minutes) => {
    const server = await NatsServer.start();
    const [one, two] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
    const [here, there] = [new NatsKeyValue(one), new NatsKeyValue(two)];
    const [clock, ttlMs] = [Date.now, 60_000];
    try {
      const lease = (await holdLease(here, 'key', { ttlMs, renewMs: 100, holder: 'one', timing: systemTiming, ids: systemIds }))!;
      await here.put('brief', 'x', { ttlMs: 200 });
      Date.now = () => clock() + minutes * 60_000;
      expect(await isHeld(there, 'key')).toBe(true);
      expect(
        await holdLease(there, 'key', { ttlMs, renewMs: 100, holder: 'two', timing: systemTiming, ids: systemIds }),
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
    const lease = (await holdLease(new NatsKeyValue(nats), 'key', {
      ttlMs: 3_000,
      renewMs: 100,
      holder: 'one',
      timing: systemTiming,
      ids: systemIds,
    }))!;
    await server.kill();
    await eventually(() => lease.lost.aborted);
    await nats.close();
    await server.stop();
  });
});
