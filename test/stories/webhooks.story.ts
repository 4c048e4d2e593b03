import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { KeyValue } from '../../src/kernel/key-value.js';
import { Streams } from '../../src/kernel/streams.js';
import { Runs } from '../../src/runs/runs.port.js';
import { failAttempt, failForGood, progress, queueTask, startTask, task } from '../../src/tasks/task.decider.js';
import { taskStream } from '../../src/tasks/task.events.js';
import { WORKER_LEASES } from '../../src/tasks/task.policy.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, cut, hang, refuse, say, think, wait } from '../support/scripted-model-server.js';
import { endOf, statusOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const NOT_FOUND = { success: false, message: 'Agent not found' };
const BODY_BYTES_MAX = 4096;

/** Other programs set agents to work: what is accepted, what is refused, and what becomes of it. */
export function webhooksStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let agent: { id: string; key: string };
  let hook: string;

  beforeAll(async () => {
    post = await LocalServer.started();
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', WEBHOOK_BODY_MAX_BYTES: String(BODY_BYTES_MAX) };
    world = await openWorld(settings, makeBacking);
    agent = await world.agent();
    hook = await webhookPath(world.alice, agent.id);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    post.answer = (_request, response) => answerJson(response, { posted: true });
    world.model.reset();
  });

  const deliver = (body: unknown, headers: Record<string, string> = {}, path = hook) => world.nobody.post(path, body, headers);
  const outcomeOf = async (body: unknown, path = hook) =>
    endOf(world.nobody, await taskOf(deliver(typeof body === 'string' ? body : JSON.stringify(body), {}, path)));
  const toldToModel = () => world.model.completions.at(-1)!.body.messages;

  describe('its URL', () => {
    it('is shown to the owner of the agent, always the same, of a published agent and of a draft', async () => {
      const show = async (id: string) => replyOf(world.alice.get(`/api/agent_webhook?id=${id}`));
      const first = await show(agent.id);
      expect(first.body).toEqual({
        success: true,
        webhook_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/webhooks\/agents\/[\w-]{43}$/),
      });
      const draft = await world.agent({ status: 'draft' });
      await world.service.restart();
      expect((await show(agent.id)).body).toEqual(first.body);
      expect((await show(draft.id)).body).not.toEqual(first.body);
      expect((await outcomeOf('{}', await webhookPath(world.alice, draft.id))).status).toBe('SUCCESS');
    });

    it('is nobody else’s business', async () => {
      const statuses = await Promise.all([
        replyOf(world.bob.get(`/api/agent_webhook?id=${agent.id}`)),
        replyOf(world.alice.get(`/api/agent_webhook?id=${newId()}`)),
        replyOf(world.alice.get('/api/agent_webhook')),
        replyOf(world.nobody.get(`/api/agent_webhook?id=${agent.id}`)),
      ]);
      expect(statuses.map(({ status }) => status)).toEqual([404, 404, 400, 401]);
      expect(statuses.slice(0, 3).map(({ body }) => body)).toEqual([
        NOT_FOUND,
        NOT_FOUND,
        { success: false, message: 'ID is required' },
      ]);
      for (const path of [`/api/get_agent?id=${agent.id}`, '/api/get_agents']) {
        expect((await replyOf(world.alice.get(path))).text).not.toContain(hook.split('/').at(-1));
      }
    });

    it('is in no event of the log', async () => {
      const token = hook.split('/').at(-1)!;
      for await (const { events } of world.backing.store.readAll({ after: -1n })) {
        for (const { data, metadata } of events) expect(data + metadata).not.toContain(token);
      }
    });

    it('ends with the agent', async () => {
      const mortal = await world.agent();
      const path = await webhookPath(world.alice, mortal.id);
      await endOf(world.nobody, await taskOf(deliver('{}', {}, path)));
      const deleted = await fetch(`${world.service.url}/api/delete_agent?id=${mortal.id}`, {
        method: 'DELETE',
        headers: { authorization: await bearerOfAlice() },
      });
      expect(deleted.status).toBe(200);
      expect((await replyOf(deliver('{}', {}, path))).status).toBe(404);
    });
  });

  const bearerOfAlice = async () => {
    const { SessionTokens } = await import('../../src/identity/session-tokens.js');
    return `Bearer ${await world.service.service.app.get(SessionTokens, { strict: false }).issue({ userId: 'alice', roles: [] })}`;
  };

  describe('a delivery', () => {
    it('is answered with a task, whose result is what the agent said', async () => {
      world.model.next([...think('New order.'), ...say('Noted', ' it.')]);
      const reply = await replyOf(deliver('{"order": 7}'));
      expect(reply.headers.get('x-position')).toMatch(/^\d+$/);
      const { task_id: taskId } = reply.body as { task_id: string };
      expect(reply.body).toEqual({ success: true, task_id: taskId });
      expect(await endOf(world.nobody, taskId)).toEqual({
        status: 'SUCCESS',
        result: { status: 'success', result: { answer: 'Noted it.', sources: [], tool_calls: [], thought: 'New order.' } },
      });
      expect(await world.alice.json<unknown[]>('/api/get_conversations')).toEqual([]);
    });

    it.each(['{}', '[]', '0', '""', 'false', '[1, 2]', '"text"', '{"id": 12345678901234567890, "note": "Žluť"}'])(
      'of %s becomes the agent’s input as it stands',
      async (text) => {
        await outcomeOf(text);
        expect(toldToModel().at(-1)).toEqual({ role: 'user', content: text });
      },
    );

    it('by GET becomes the JSON text of its query', async () => {
      const path = `${hook}?order=7&order=8&note=a%20b&empty=`;
      expect((await endOf(world.nobody, await taskOf(world.nobody.get(path)))).status).toBe('SUCCESS');
      expect(toldToModel().at(-1)).toEqual({ role: 'user', content: '{"order":"7","note":"a b","empty":""}' });
      expect((await endOf(world.nobody, await taskOf(world.nobody.get(hook)))).status).toBe('SUCCESS');
      expect(toldToModel().at(-1)).toEqual({ role: 'user', content: '{}' });
    });

    it('does not come of asking for the head of an answer', async () => {
      const head = await fetch(world.service.url + hook, { method: 'HEAD' });
      expect(head.status).toBe(200);
      await taskOf(deliver('{}')).then((taskId) => endOf(world.nobody, taskId));
      expect(world.model.completions).toHaveLength(1);
    });

    it.each<[string, unknown, Record<string, string>, number]>([
      ['of another type', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
      ['of plain text', '{}', { 'content-type': 'text/plain' }, 415],
      ['that is no JSON', '{"a":', {}, 400],
      ['of null', 'null', {}, 400],
      ['of nothing', '', {}, 400],
      ['that is too large', JSON.stringify('x'.repeat(BODY_BYTES_MAX)), {}, 413],
      ['with too long a key', '{}', { 'idempotency-key': 'k'.repeat(257) }, 400],
    ])('%s is refused', async (_, body, headers, status) => {
      const reply = await replyOf(deliver(body, headers));
      expect([reply.status, reply.body]).toEqual([status, { success: false, message: expect.any(String) }]);
    });

    it('with a token nobody has is refused whatever it brings', async () => {
      const unknown = hook.slice(0, -1) + (hook.endsWith('A') ? 'B' : 'A');
      for (const reply of await Promise.all([
        replyOf(deliver('{}', {}, unknown)),
        replyOf(deliver('{"a":', {}, unknown)),
        replyOf(deliver('{}', { 'content-type': 'text/plain' }, unknown)),
        replyOf(deliver('{}', {}, hook.toUpperCase().replace(/^\/API\/WEBHOOKS\/AGENTS/, '/api/webhooks/agents'))),
        replyOf(world.nobody.get(unknown)),
      ])) {
        expect([reply.status, reply.body]).toEqual([404, NOT_FOUND]);
      }
    });
  });

  describe('a key', () => {
    it('makes one task of many deliveries, by POST and by GET, also at the same time and across a restart', async () => {
      const key = { 'idempotency-key': newId() };
      const tasks = await Promise.all(Array.from({ length: 8 }, () => taskOf(deliver('{"n":1}', key))));
      expect(new Set(tasks).size).toBe(1);
      await endOf(world.nobody, tasks[0]!);
      await world.service.restart();
      const again = await replyOf(deliver('{"n":1}', key));
      expect(again.body).toEqual({ success: true, task_id: tasks[0] });
      expect([again.headers.get('idempotent-replayed'), again.headers.get('x-position')]).toEqual([
        'true',
        expect.stringMatching(/^\d+$/),
      ]);
      expect(await taskOf(world.nobody.get(hook, key))).toBe(tasks[0]);
      expect(world.model.completions).toHaveLength(1);
    });

    it('is one agent’s own, and an empty one is none', async () => {
      const other = await webhookPath(world.alice, (await world.agent()).id);
      const key = { 'idempotency-key': 'order-7' };
      const tasks = await Promise.all([
        taskOf(deliver('{}', key)),
        taskOf(deliver('{}', key, other)),
        taskOf(deliver('{}', { 'idempotency-key': '' })),
        taskOf(deliver('{}', { 'idempotency-key': '' })),
        taskOf(deliver('{}')),
      ]);
      expect(new Set(tasks).size).toBe(5);
      await Promise.all(tasks.map((taskId) => endOf(world.nobody, taskId)));
    });

    it('answers another body with the original task, unless that is to be refused', async () => {
      const key = { 'idempotency-key': newId() };
      const original = await taskOf(deliver('{"n":1}', key));
      expect(await taskOf(deliver('{"n":2}', key))).toBe(original);
      await endOf(world.nobody, original);
      await world.service.restart({ WEBHOOK_KEY_MISMATCH: 'reject' });
      expect((await replyOf(deliver('{"n":2}', key))).status).toBe(422);
      expect(await taskOf(deliver(' {"n": 1}', key))).toBe(original);
      await world.service.restart();
    });

    it('stands for a new task once its time is over', async () => {
      await world.service.restart({ IDEMPOTENCY_TTL_SECONDS: '1' });
      const key = { 'idempotency-key': newId() };
      const first = await taskOf(deliver('{}', key));
      let second = first;
      await eventually(async () => (second = await taskOf(deliver('{}', key))) !== first);
      expect([await endOf(world.nobody, first), await endOf(world.nobody, second)]).toMatchObject([
        { status: 'SUCCESS' },
        { status: 'SUCCESS' },
      ]);
      await world.service.restart();
    });
  });

  describe('a run', () => {
    const tool = async (actions: Readonly<Record<string, object>>) => {
      const whole = Object.entries(actions).map(([name, action]) => [
        name,
        { name, url: `${post.url}/${name}`, method: 'POST', description: `Does ${name}`, active: true, ...action },
      ]);
      const body = { name: 'api_tool', displayName: 'API', description: '-', status: true };
      const config = { actions: Object.fromEntries(whole) as object };
      return ((await (await world.alice.post('/api/create_tool', { ...body, config })).json()) as { id: string }).id;
    };

    it('acts as the owner; what needs approval is refused, and the model is told so and goes on', async () => {
      const id = await tool({ send: {}, drop: { require_approval: true } });
      const able = await world.agent({ tools: [id], config: { api_write_allowlist: [] } });
      world.model.next([...say('Let me see. '), call('c1', 'drop', {}), call('c2', 'send', {})], say('Sent.'));
      const { result } = (await outcomeOf('{}', await webhookPath(world.alice, able.id))) as { result: { result: object } };
      const reason = "This tool requires approval and is not in the run's tool_allowlist.";
      expect(result.result).toEqual({
        answer: 'Let me see. Sent.',
        sources: [],
        thought: '',
        tool_calls: [
          {
            tool_name: 'api_tool',
            call_id: 'c1',
            action_name: 'drop',
            arguments: {},
            status: 'denied',
            error: reason,
            error_type: 'tool_not_allowed',
          },
          expect.objectContaining({ call_id: 'c2', status: 'completed' }),
        ],
      });
      const told = toldToModel().filter(({ role }) => role === 'tool');
      expect(told[0]!.content).toBe(`Tool denied (headless): ${reason}`);
      expect(post.requests.map(({ path }) => path)).toEqual(['/send']);
    });

    it('whose model fails has succeeded all the same, with as much of an answer as there is', async () => {
      world.model.always([refuse(400)]);
      expect(await outcomeOf('{}')).toMatchObject({
        status: 'SUCCESS',
        result: { status: 'success', result: { answer: '', sources: [], tool_calls: [], thought: '' } },
      });
      world.model.always([...say('Half of '), wait(50), cut]);
      expect(await outcomeOf('{}')).toMatchObject({ status: 'SUCCESS', result: { result: { answer: 'Half of ' } } });
    });

    it('does not begin where the owner’s quota is used up', async () => {
      await world.service.restart({ QUOTA_TOKENS_PER_USER: '0' });
      expect(await outcomeOf('{}')).toEqual({
        status: 'SUCCESS',
        result: { status: 'quota_exceeded', error: expect.stringMatching(/./) },
      });
      expect(world.model.completions).toEqual([]);
      await world.service.restart();
    });

    it('whose result is large is told whole', async () => {
      const long = 'x'.repeat(200 * 1024);
      world.model.always(say(long));
      expect(await outcomeOf('{}')).toMatchObject({ status: 'SUCCESS', result: { result: { answer: long } } });
    });

    it('fails when its agent cannot be had any more', async () => {
      const gone = await world.agent();
      const runs = world.service.service.app.get(Runs, { strict: false });
      const runId = newId();
      const path = `/api/delete_agent?id=${gone.id}`;
      await fetch(world.service.url + path, { method: 'DELETE', headers: { authorization: await bearerOfAlice() } });
      const cause = { actor: 'system:test', credential: 'system', correlationId: runId, causationId: runId } as const;
      await runs.queue({ runId, ownerId: 'alice', agentId: gone.id, trigger: 'webhook', input: '{}' }, cause);
      expect(await endOf(world.nobody, runId)).toEqual({ status: 'FAILURE', result: 'Agent not found' });
    });

    it('tells how far it is; a service that is stopped meanwhile leaves it to the next', async () => {
      world.model.always([hang]);
      const taskId = await taskOf(deliver('{}'));
      await eventually(async () => (await statusOf(world.nobody, taskId)).status === 'PROGRESS');
      expect(await statusOf(world.nobody, taskId)).toEqual({ status: 'PROGRESS', result: { current: 50 } });
      world.model.always(say('At last.'));
      await world.service.restart();
      expect(await endOf(world.nobody, taskId)).toMatchObject({ status: 'SUCCESS', result: { result: { answer: 'At last.' } } });
    });

    it('is told of as it goes: pending, started, waiting for another attempt, under way again, failed for good', async () => {
      const taskId = newId();
      const streams = new Streams(world.backing.store);
      const cause = { actor: 'system:test', credential: 'system', correlationId: taskId, causationId: taskId } as const;
      const told: unknown[] = [];
      // Nobody runs what is of this kind, so it stands as it is left.
      for (const [decision, status] of [
        [queueTask({ taskId, kind: 'of-no-runner', ownerId: 'alice', input: {} }), 'PENDING'],
        [startTask(taskId, 'one', new Date()), 'STARTED'],
        [failAttempt(taskId, 1, 'No luck.', new Date(Date.now() + 60_000)), 'RETRY'],
        [startTask(taskId, 'two', new Date(Date.now() + 120_000)), 'STARTED'],
        [progress(taskId, 2, 40), 'PROGRESS'],
        [failForGood(taskId, 2, 'No luck again.'), 'FAILURE'],
      ] as const) {
        await streams.transact(taskStream(taskId), task, decision, cause);
        await eventually(async () => (await statusOf(world.nobody, taskId)).status === status);
        told.push((await statusOf(world.nobody, taskId)).result);
      }
      expect(told).toEqual([null, null, null, null, { current: 40 }, 'No luck again.']);
    });

    it('is pending until somebody is at it, as is a task nobody knows, unless there is nobody at all', async () => {
      const ask = () => replyOf(world.nobody.get(`/api/task_status?task_id=${newId()}`));
      expect((await ask()).body).toEqual({ status: 'PENDING', result: null });
      expect((await world.nobody.get('/api/task_status')).status).toBe(400);
      const keyValue = world.service.service.app.get(KeyValue, { strict: false });
      for (const key of await keyValue.keys(WORKER_LEASES)) await keyValue.delete(key);
      const { status, body, headers } = await ask();
      expect([status, body]).toEqual([503, { success: false, message: 'Service unavailable', error: 'unavailable' }]);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      await eventually(async () => (await ask()).status === 200);
    });
  });
}
