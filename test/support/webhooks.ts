import { expect } from '@jest/globals';
import type { Client } from './client.js';
import { eventually } from './eventually.js';

/** The response of `GET /api/task_status`. */
export type TaskStatus = Readonly<{ status: string; result: unknown }>;

/** The path of an agent's webhook, from its URL. */
export async function webhookPath(owner: Client, agentId: string): Promise<string> {
  const { webhook_url: url } = await owner.json<{ webhook_url: string }>(`/api/agent_webhook?id=${agentId}`);
  return new URL(url).pathname;
}

export const statusOf = (client: Client, taskId: string): Promise<TaskStatus> =>
  client.json<TaskStatus>(`/api/task_status?task_id=${taskId}`);

/** Waits until a task has ended. Returns its status. */
export async function endOf(client: Client, taskId: string, boundMs?: number): Promise<TaskStatus> {
  let last: TaskStatus | undefined;
  await eventually(
    async () => {
      last = await statusOf(client, taskId);
      return last.status === 'SUCCESS' || last.status === 'FAILURE';
    },
    boundMs,
    `task ${taskId} ends`,
  );
  return last!;
}

/** The id of the task as which a delivery was accepted. */
export async function taskOf(delivering: Response | Promise<Response>): Promise<string> {
  const response = await delivering;
  const body = (await response.json()) as { success: boolean; task_id: string };
  expect([response.status, body]).toEqual([200, { success: true, task_id: expect.any(String) }]);
  return body.task_id;
}
