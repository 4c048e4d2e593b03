import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type KeyValue, KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { KeyValueSchedulerHeartbeat } from './key-value-scheduler-heartbeat.js';
import { SCHEDULER_BEHIND_MAX_MS } from './scheduler-heartbeat.port.js';

const START = Date.parse('2026-01-01T09:00:00Z');
const at = (ms: number) => new Date(START + ms);

let keyValue: KeyValue;
let scheduler: KeyValueSchedulerHeartbeat;
let reader: KeyValueSchedulerHeartbeat;
beforeEach(() => {
  keyValue = new InProcessKeyValue();
  scheduler = new KeyValueSchedulerHeartbeat(keyValue, systemTiming, systemIds);
  reader = new KeyValueSchedulerHeartbeat(keyValue, systemTiming, systemIds);
});
afterEach(() => scheduler.beforeApplicationShutdown());

describe('the scheduler', () => {
  it('is not keeping up before its first heartbeat', async () => expect(await reader.isKeepingUp(at(0))).toBe(false));

  it('is keeping up until fifteen minutes after its last heartbeat', async () => {
    await scheduler.beat(at(0));
    expect(await reader.isKeepingUp(at(SCHEDULER_BEHIND_MAX_MS))).toBe(true);
    expect(await reader.isKeepingUp(at(SCHEDULER_BEHIND_MAX_MS + 1))).toBe(false);
    await scheduler.beat(at(SCHEDULER_BEHIND_MAX_MS));
    expect(await reader.isKeepingUp(at(SCHEDULER_BEHIND_MAX_MS + 1))).toBe(true);
  });

  it('is not keeping up after its shutdown, even if a heartbeat follows', async () => {
    await scheduler.beat(at(0));
    await scheduler.beforeApplicationShutdown();
    await scheduler.beat(at(60_000));
    expect(await reader.isKeepingUp(at(60_000))).toBe(false);
  });

  it('is keeping up while at least one process is running', async () => {
    await Promise.all([scheduler.beat(at(0)), reader.beat(at(0))]);
    await scheduler.beforeApplicationShutdown();
    expect(await scheduler.isKeepingUp(at(1))).toBe(true);
    await reader.beforeApplicationShutdown();
    expect(await scheduler.isKeepingUp(at(1))).toBe(false);
  });

  it('is not keeping up while the store is unavailable', async () => {
    const away = async () => {
      throw new KeyValueUnavailable();
    };
    const lost = new KeyValueSchedulerHeartbeat(
      { create: away, put: away, get: away, keys: away } as unknown as KeyValue,
      systemTiming,
      systemIds,
    );
    await lost.beat(at(0));
    expect(await lost.isKeepingUp(at(0))).toBe(false);
  });
});
