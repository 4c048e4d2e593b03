import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { say, think } from '../support/scripted-model-server.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const NOT_FOUND = { success: false, message: 'Agent not found' };
const BODY_BYTES_MAX = 4096;

/** Webhooks: which deliveries are accepted and refused, and what they lead to. */
export function webhooksStory(makeBacking: MakeBacking): void {
  let world: World;
  let agent: { id: string; key: string };
  let hook: string;

  beforeAll(async () => {
    world = await openWorld({ WEBHOOK_BODY_MAX_BYTES: String(BODY_BYTES_MAX) }, makeBacking);
    agent = await world.agent();
    hook = await webhookPath(world.alice, agent.id);
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const deliver = (body: unknown, headers: Record<string, string> = {}, path = hook) => world.nobody.post(path, body, headers);
  const outcomeOf = async (body: string, path = hook) => endOf(world.nobody, await taskOf(deliver(body, {}, path)));
  const sentToModel = () => world.model.completions.at(-1)!.body.messages;

  describe('its URL', () => {
    it('is shown to the owner of the agent, always the same, for published agents and drafts', async () => {
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

    it('is closed to other users', async () => {
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
      expect((await world.alice.delete(`/api/delete_agent?id=${mortal.id}`)).status).toBe(200);
      expect((await replyOf(deliver('{}', {}, path))).status).toBe(404);
    });
  });

  describe('a delivery', () => {
    it('returns a task, whose result is the agent’s answer', async () => {
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

    it.each([
      '{}',
      '[]',
      '0',
      '""',
      'false',
      '[1, 2]',
      '"text"',
      '{"id": 12345678901234567890, "note": "Žluť"}',
      '{"api_key": "x", "question": "y", "__proto__": {"a": 1}, "constructor": {"prototype": 2}}',
    ])('of %s becomes the agent’s input unchanged', async (text) => {
      await outcomeOf(text);
      expect(sentToModel().at(-1)).toEqual({ role: 'user', content: text });
    });

    it('by GET becomes the JSON text of its query', async () => {
      const path = `${hook}?order=7&order=8&note=a%20b&empty=`;
      expect((await endOf(world.nobody, await taskOf(world.nobody.get(path)))).status).toBe('SUCCESS');
      expect(sentToModel().at(-1)).toEqual({ role: 'user', content: '{"order":"7","note":"a b","empty":""}' });
      expect((await endOf(world.nobody, await taskOf(world.nobody.get(hook)))).status).toBe('SUCCESS');
      expect(sentToModel().at(-1)).toEqual({ role: 'user', content: '{}' });
    });

    it('is JSON even if its content type has parameters', async () => {
      for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset=UTF-8']) {
        await endOf(world.nobody, await taskOf(deliver('{"order": 7}', { 'content-type': type })));
        expect(sentToModel().at(-1)).toEqual({ role: 'user', content: '{"order": 7}' });
      }
    });

    it('needs no credential except its token, and ignores others', async () => {
      for (const authorization of ['Bearer of something else', 'Basic YTpi']) {
        expect((await endOf(world.nobody, await taskOf(deliver('{}', { authorization })))).status).toBe('SUCCESS');
        await endOf(world.nobody, await taskOf(world.nobody.get(`${hook}?api_key=unknown`, { authorization })));
        expect((await replyOf(deliver('{}', { authorization }, '/api/webhooks/agents/unknown'))).body).toEqual(NOT_FOUND);
      }
    });

    it('is not made by a HEAD request', async () => {
      const head = await fetch(world.service.url + hook, { method: 'HEAD' });
      expect(head.status).toBe(200);
      await taskOf(deliver('{}')).then((taskId) => endOf(world.nobody, taskId));
      expect(world.model.completions).toHaveLength(1);
    });

    it.each<[string, unknown, Record<string, string>, number]>([
      ['of another type', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
      ['of plain text', '{}', { 'content-type': 'text/plain' }, 415],
      ['that is not JSON', '{"a":', {}, 400],
      ['of null', 'null', {}, 400],
      ['without a body', '', {}, 400],
      ['that is too large', JSON.stringify('x'.repeat(BODY_BYTES_MAX)), {}, 413],
      ['with too long a key', '{}', { 'idempotency-key': 'k'.repeat(257) }, 400],
    ])('%s is refused', async (_, body, headers, status) => {
      const reply = await replyOf(deliver(body, headers));
      expect([reply.status, reply.body]).toEqual([status, { success: false, message: expect.any(String) }]);
    });

    it.each(['application/cloudevents+json', 'application/problem+json; charset=utf-8'])(
      'of another JSON type, %s, is accepted',
      async (type) => {
        const taskId = await taskOf(deliver('{"a":1}', { 'content-type': type }));
        expect(await endOf(world.nobody, taskId)).toMatchObject({ status: 'SUCCESS' });
      },
    );

    it('with an unknown token is refused whatever it contains', async () => {
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
    it('makes one task of many deliveries, by POST and by GET, even concurrently and across a restart', async () => {
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

    it('is separate per agent, and an empty one is ignored', async () => {
      const other = await webhookPath(world.alice, (await world.agent()).id);
      const key = { 'idempotency-key': 'order-7' };
      const tasks = await Promise.all([
        taskOf(deliver('{}', key)),
        taskOf(deliver('{}', key, other)),
        taskOf(deliver('{}', { 'idempotency-key': '' })),
        taskOf(deliver('{}', { 'idempotency-key': '' })),
        taskOf(deliver('{}')),
        taskOf(deliver('{}', { 'idempotency-key': 'k'.repeat(256) })),
      ]);
      expect(new Set(tasks).size).toBe(6);
      await Promise.all(tasks.map((taskId) => endOf(world.nobody, taskId)));
    });

    it('returns the original task for another body, unless the setting refuses that', async () => {
      const key = { 'idempotency-key': newId() };
      const original = await taskOf(deliver('{"n":1}', key));
      expect(await taskOf(deliver('{"n":2}', key))).toBe(original);
      await endOf(world.nobody, original);
      await world.service.restart({ WEBHOOK_KEY_MISMATCH: 'reject' });
      expect((await replyOf(deliver('{"n":2}', key))).status).toBe(422);
      expect(await taskOf(deliver(' {"n": 1}', key))).toBe(original);
      await world.service.restart();
    });

    it('leads to a new task once it has expired', async () => {
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
}
