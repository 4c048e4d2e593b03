// Delivers an event to an agent's webhook exactly once and waits for the agent's answer.
//   node webhook.mjs '{"order": 7}' order-7
// VERBATIM_WEBHOOK_URL: the webhook of the agent, as GET /api/agent_webhook?id=<agent> shows it to the agent's owner.
import { setTimeout as pause } from 'node:timers/promises';

const { VERBATIM_WEBHOOK_URL } = process.env;
const [body, idempotencyKey] = process.argv.slice(2);

const taskId = await deliver();
console.log(`task: ${taskId}`);
// For 24 hours the same key identifies the same delivery, so a repetition starts nothing new.
console.log(`delivered again: ${(await deliver()) === taskId ? 'the same task' : 'another task'}`);

let task = await statusOf(taskId);
while (task.status !== 'SUCCESS' && task.status !== 'FAILURE') {
  await pause(500);
  task = await statusOf(taskId);
}
console.log(`status: ${task.status}`);
console.log(`answer: ${task.result?.result?.answer ?? JSON.stringify(task.result)}`);

async function deliver() {
  const response = await fetch(VERBATIM_WEBHOOK_URL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body,
  });
  const reply = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(reply)}`);
  return reply.task_id;
}

async function statusOf(id) {
  const response = await fetch(new URL(`/api/task_status?task_id=${id}`, VERBATIM_WEBHOOK_URL));
  // 503 means that no worker is alive. The task waits for a worker.
  if (response.status === 503) return { status: 'PENDING' };
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}
