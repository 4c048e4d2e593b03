import { expect, it } from '@jest/globals';
import { holdLease } from '../../kernel/messaging/lease.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { WORKER_LEASES } from './task.policy.js';
import { workerCheck } from './worker-presence.js';

it('a service is degraded while no worker is alive', async () => {
  const keyValue = new InProcessKeyValue();
  const check = workerCheck(keyValue);
  const noWorker = { readiness: 'degraded', reason: 'No worker is alive: questions and tasks wait for one.' };
  expect(await check()).toEqual(noWorker);
  const hold = (worker: string) =>
    holdLease(keyValue, `${WORKER_LEASES}${worker}`, {
      ttlMs: 60_000,
      holder: worker,
      timing: systemTiming,
      ids: systemIds,
    });
  const [one, other] = [await hold('one'), await hold('other')];
  expect(await check()).toBeUndefined();
  await one!.release();
  expect(await check()).toBeUndefined();
  await other!.release();
  expect(await check()).toEqual(noWorker);
});
