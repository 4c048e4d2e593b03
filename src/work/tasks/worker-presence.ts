import { degraded, type ReadinessCheck } from '../../kernel/conditions.js';
import type { KeyValue } from '../../kernel/key-value.js';
import { WORKER_LEASES } from './task.policy.js';

/** Whether some process works on tasks and turns. @throws KeyValueUnavailable */
export const isWorkerAlive = async (keyValue: KeyValue): Promise<boolean> => (await keyValue.keys(WORKER_LEASES)).length > 0;

/** Without a worker everything is accepted and shown, and nothing is worked on. */
export const workerCheck =
  (keyValue: KeyValue): ReadinessCheck =>
  async () =>
    (await isWorkerAlive(keyValue)) ? undefined : degraded('No worker is alive: questions and tasks wait for one.');
