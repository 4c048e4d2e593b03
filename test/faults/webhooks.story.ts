import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { RunEvent, RunFinished, RunQueued } from '../../src/background/runs/run.events.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { RESTARTED_MS_MAX } from '../support/process.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { call, type CompletionRequest, hang, say } from '../support/scripted-model-server.js';
import { endOf, webhookPath } from '../support/webhooks.js';

const DUPLICATES = 8;
const KILLS = 3;
const SENDERS = 6;

/** Deliveries, each by several senders at once, to a service that is killed during its work: each becomes one run. */
export function webhooksFaultStory(makeBacking: MakeBacking, deliveriesMax: number): void {
  const deliveries = Number(process.env['TEST_WEBHOOK_DELIVERIES'] ?? deliveriesMax);
  const killAfter = Array.from({ length: KILLS }, (_, kill) => Math.floor((deliveries * (kill + 1)) / (KILLS + 1)));
  let running: ScriptedProcess;
  let post: LocalServer;
  let agentId: string;
  let hook: string;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { counted: true }));
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', TITLE_MODEL_ID: 'none' };
    running = await startScriptedProcess(settings, { backing: await makeBacking(), standbys: 1 });
    running.model.always(counting);
    const actions = { count: countAction() };
    const tool = { name: 'api_tool', displayName: 'Counter', description: 'Counts', status: true, config: { actions } };
    const { id } = await created('create_tool', tool);
    const agent = { name: 'Counter', description: 'Counts', chunks: 4, retriever: 'classic', prompt_id: 'default', tools: [id] };
    agentId = (await created('create_agent', { ...agent, status: 'published' })).id;
    hook = await webhookPath(running.client, agentId);
  });
  afterAll(async () => {
    await running.close();
    await post.close();
  });

  const countAction = () => ({
    name: 'count',
    method: 'POST',
    url: `${post.url}/count`,
    description: 'Counts a delivery',
    active: true,
    body: { type: 'object', properties: { n: { type: 'integer', description: '', filled_by_llm: true } } },
  });
  const created = async (path: string, body: object) =>
    (await (await running.client.post(`/api/${path}`, body)).json()) as { id: string };

  /** Sends until the delivery is accepted, like senders of webhooks. */
  async function delivered(n: number): Promise<string> {
    const until = performance.now() + RESTARTED_MS_MAX;
    for (;;) {
      try {
        const response = await running.client.post(hook, { n }, { 'idempotency-key': `delivery-${n}` });
        const body = (await response.json()) as { task_id: string };
        if (response.status === 200) return body.task_id;
      } catch {
        // The service is down for a moment.
      }
      if (performance.now() > until) throw new Error(`Delivery ${n} is not taken.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  it(`${deliveries} deliveries, each sent ${DUPLICATES} times over ${KILLS} kills, become as many runs: every task ends, and none counts twice`, async () => {
    const tasks: string[] = [];
    let next = 0;
    let killing: Promise<void> = Promise.resolve();
    const send = async () => {
      for (let n = next++; n < deliveries; n = next++) {
        const returned = await Promise.all(Array.from({ length: DUPLICATES }, () => delivered(n)));
        expect(new Set(returned).size).toBe(1);
        tasks[n] = returned[0]!;
        const accepted = tasks.filter(Boolean).length;
        if (killAfter.includes(accepted)) killing = killing.then(killed);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
    await killing;
    expect(new Set(tasks).size).toBe(deliveries);

    const { queued, finished } = await untilAllEnded(tasks);
    expect(queued).toHaveLength(deliveries);
    expect(new Set(queued.map(({ runId }) => runId))).toEqual(new Set(tasks));
    expect(new Set(queued.map(({ input }) => input)).size).toBe(deliveries);
    expectCountedOnce(finished);
  }, 600_000);

  const countedAs = (n: number) => post.requests.filter(({ body }) => (JSON.parse(body) as { n: number }).n === n).length;
  const resultOf = async (taskId: string) => {
    const { result } = await endOf(running.client, taskId, RESTARTED_MS_MAX);
    return (result as { result: { answer: string; tool_calls: Record<string, unknown>[] } }).result;
  };

  it('a run that is killed after a call took effect starts again, without repeating the effect', async () => {
    running.model.always((request) => (toldOf(request).length > 0 ? [hang] : counting(request)));
    const taskId = await delivered(-1);
    await eventually(() => running.model.completions.some(({ body }) => toldOf(body).length > 0));
    await running.service.kill();
    running.model.always(counting);
    await running.service.start();
    const { answer, tool_calls: calls } = await resultOf(taskId);
    expect([answer, calls, countedAs(-1)]).toEqual([
      'Counted.',
      [expect.objectContaining({ action_name: 'count', arguments: { n: -1 }, status: 'completed' })],
      1,
    ]);
  }, 600_000);

  it('a run that is killed during a call does not repeat it, and tells the model that its effect is unknown', async () => {
    running.model.always(counting);
    post.answer = () => undefined;
    const taskId = await delivered(-2);
    await eventually(() => countedAs(-2) === 1);
    await running.service.kill();
    post.answer = (_request, response) => answerJson(response, { counted: true });
    await running.service.start();
    const { tool_calls: calls } = await resultOf(taskId);
    expect([calls, countedAs(-2)]).toEqual([[expect.objectContaining({ status: 'error', error_type: 'outcome_unknown' })], 1]);
  }, 600_000);

  const killed = async () => {
    await running.service.kill();
    await running.service.start();
  };

  async function untilAllEnded(tasks: readonly string[]) {
    for (const taskId of tasks) {
      expect(await endOf(running.client, taskId, 240_000)).toMatchObject({ status: 'SUCCESS', result: { status: 'success' } });
    }
    const queued: RunQueued['data'][] = [];
    const finished: RunFinished['data'][] = [];
    for await (const { events } of running.backing.store.readAll({ after: -1n, filter: { categories: ['run'] } })) {
      for (const { type, data } of events) {
        const event = { type, data: JSON.parse(data) as unknown } as RunEvent;
        if (event.type === 'RunQueued') queued.push(event.data);
        if (event.type === 'RunFinished') finished.push(event.data);
      }
    }
    return { queued, finished };
  }

  /** Expects every call to have reached the counter once. A call whose process was killed may not have reached it. */
  function expectCountedOnce(finished: readonly RunFinished['data'][]) {
    expect(finished).toHaveLength(deliveries);
    const counts = new Map<number, number>();
    for (const { body } of post.requests) {
      const { n } = JSON.parse(body) as { n: number };
      counts.set(n, (counts.get(n) ?? 0) + 1);
    }
    expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
    const unknown = finished.filter(({ toolCalls }) => toolCalls[0]?.['error_type'] === 'outcome_unknown');
    expect(counts.size).toBeGreaterThanOrEqual(deliveries - unknown.length);
    expect(finished.every(({ toolCalls }) => toolCalls.length === 1)).toBe(true);
  }
}

const toldOf = ({ messages }: Pick<CompletionRequest, 'messages'>) => messages.filter(({ role }) => role === 'tool');

/** Calls the counter with what was delivered, then answers. */
function counting({ messages }: CompletionRequest) {
  if (toldOf({ messages }).length > 0) return say('Counted.');
  return [call('c1', 'count', JSON.parse(messages.at(-1)!.content as string))];
}
