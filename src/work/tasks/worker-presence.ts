import { degraded, type ReadinessCheck } from '../../kernel/conditions.js';
import type { KeyValue } from '../../kernel/messaging/key-value.js';
import { WORKER_LEASES } from './task.policy.js';

/** Whether any worker is alive. @throws KeyValueUnavailable */
export const isWorkerAlive = async (keyValue: KeyValue): Promise<boolean> => (await keyValue.keys(WORKER_LEASES)).length > 0;

/** `degraded` without a worker: requests are accepted and answered, but no work is done. */
export const workerCheck =
  (keyValue: KeyValue): ReadinessCheck =>
  async () =>
    (await isWorkerAlive(keyValue)) ? undefined : degraded('No worker is alive: questions and tasks wait for one.');
