import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { tokenFor } from '../support/access-tokens.js';
import type { MakeBacking } from '../support/backing.js';
import { type Client, conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Numbers = Readonly<Record<string, number>>;
type Entry = Readonly<Record<string, unknown>>;
type Logs = Readonly<{ logs: readonly Entry[]; page: number; page_size: number; has_more: boolean }>;

const PATHS = ['message', 'token', 'feedback', 'tool', 'schedule'].map((kind) => `/api/get_${kind}_analytics`);
const sum = (numbers: Numbers): number => Object.values(numbers).reduce((total, each) => total + each, 0);

/** The routes for analytics and logs, as the web client uses them, and who may use them. */
export function analyticsStory(makeBacking: MakeBacking): void {
  let world: World;
  let agentId: string;
  let deleted: string;

  const post = async <Body>(path: string, body: object = {}, client: Client = world.alice): Promise<Body> => {
    const reply = await replyOf(client.post(path, body));
    expect([reply.status, reply.body]).toEqual([200, expect.objectContaining({ success: true })]);
    return reply.body as Body;
  };
  const logs = (body: object = {}, client?: Client) => post<Logs>('/api/get_user_logs', body, client);
  const messages = async (body: object, client?: Client) =>
    sum((await post<{ messages: Numbers }>('/api/get_message_analytics', body, client)).messages);

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    agentId = (await world.agent({ name: 'Guide' })).id;
    const asked = await world.alice.stream({ question: 'What of 100%_sure?', agent_id: agentId });
    const rated = { conversation_id: conversationIdIn(asked), question_index: 0, feedback: 'like' };
    expect((await world.alice.post('/api/feedback', rated)).status).toBe(200);
    await world.alice.stream({ question: 'And without an agent?' });
    deleted = conversationIdIn(await world.alice.stream({ question: 'Forget this one' }));
    const task = await taskOf(world.nobody.post(await webhookPath(world.alice, agentId), '{"order":7}'));
    await endOf(world.nobody, task);
    await eventually(async () => (await logs()).logs.length === 4);
  });
  afterAll(() => world.close());

  describe('analytics', () => {
    it('have an entry for each day, hour and minute', async () => {
      for (const [filter_option, buckets, form] of [
        ['last_hour', 61, /^\d{4}-\d\d-\d\d \d\d:\d\d:00$/],
        ['last_24_hour', 25, /^\d{4}-\d\d-\d\d \d\d:00$/],
        ['last_7_days', 7, /^\d{4}-\d\d-\d\d$/],
        ['last_15_days', 15, /^\d{4}-\d\d-\d\d$/],
        ['last_30_days', 30, /^\d{4}-\d\d-\d\d$/],
      ] as const) {
        const { messages: counts } = await post<{ messages: Numbers }>('/api/get_message_analytics', { filter_option });
        expect(Object.keys(counts)).toHaveLength(buckets);
        for (const key of Object.keys(counts)) expect(key).toMatch(form);
        expect(sum(counts)).toBe(3);
      }
    });

    it('count the questions and ratings of a user, and of one agent', async () => {
      expect([await messages({}), await messages({ api_key_id: agentId }), await messages({}, world.bob)]).toEqual([3, 1, 0]);
      const { feedback } = await post<{ feedback: Record<string, Numbers> }>('/api/get_feedback_analytics');
      expect(Object.values(feedback)).toHaveLength(30);
      expect(Object.values(feedback).at(-1)).toEqual({ positive: 1, negative: 0 });
      expect(Object.values(feedback)[0]).toEqual({ positive: 0, negative: 0 });
    });

    it('count tokens by the requested grouping', async () => {
      type Tokens = Readonly<{ token_usage: Numbers; group_by: string; series: Readonly<Record<string, Numbers>> }>;
      const tokens = (body: object) => post<Tokens>('/api/get_token_analytics', body);
      const all = await tokens({});
      expect([all.group_by, Object.keys(all.series)]).toEqual(['none', ['prompt', 'generated']]);
      expect(sum(all.token_usage)).toBeGreaterThan(0);
      expect(sum(all.series['prompt']!) + sum(all.series['generated']!)).toBe(sum(all.token_usage));
      const byAgent = await tokens({ group_by: 'agent' });
      expect(Object.keys(byAgent.series).toSorted()).toEqual(['Guide', 'No agent']);
      const bySource = await tokens({ group_by: 'source', api_key_id: agentId });
      expect(Object.keys(bySource.series).toSorted()).toEqual(['chat', 'webhook']);
      expect(sum(bySource.token_usage)).toBe(sum(byAgent.series['Guide']!));
    });

    it('are empty for tools and schedules that were not used', async () => {
      expect(await post('/api/get_tool_analytics')).toEqual({ success: true, tools: [] });
      const { runs } = await post<{ runs: Record<string, Numbers> }>('/api/get_schedule_analytics', {
        filter_option: 'last_7_days',
      });
      expect(Object.values(runs)).toEqual(Array(7).fill({ completed: 0, failed: 0, skipped: 0 }));
    });

    it('are refused for unknown options and for agents of other users', async () => {
      for (const path of [...PATHS, '/api/get_user_logs']) {
        const missing = await replyOf(world.bob.post(path, { api_key_id: agentId }));
        expect([path, missing.status, missing.body]).toEqual([path, 404, { success: false, message: 'Agent not found' }]);
        expect((await world.alice.post(path, { api_key_id: 'x' })).status).toBe(404);
        expect((await world.nobody.post(path, {})).status).toBe(401);
      }
      const invalid = { success: false, message: 'Invalid option' };
      for (const path of PATHS) {
        const { status, body } = await replyOf(world.alice.post(path, { filter_option: 'last_year' }));
        expect([path, status, body]).toEqual([path, 400, invalid]);
      }
      for (const [path, fields] of [
        ['/api/get_token_analytics', { group_by: 'user' }],
        ['/api/get_user_logs', { level: 'debug' }],
        ['/api/get_user_logs', { event_type: 'audit' }],
        ['/api/get_user_logs', { page: 'one' }],
        ['/api/get_user_logs', { page: 1_001 }],
      ] as const) {
        const { status, body } = await replyOf(world.alice.post(path, fields));
        expect([fields, status, body]).toEqual([fields, 400, invalid]);
      }
      expect((await world.alice.post('/api/get_user_logs', { search: 'a\0b' })).status).toBe(400);
    });

    it('are open to unrestricted tokens with the scope', async () => {
      const { client } = await tokenFor(world, { scopes: ['analytics:read'] });
      expect(await messages({}, client)).toBe(3);
      const others = [
        { scopes: ['chat:run'] },
        { scopes: ['analytics:read', 'agents:read'], resource_filter: { agents: [newId()] } },
      ];
      for (const fields of others)
        expect((await (await tokenFor(world, fields)).client.post('/api/get_user_logs', {})).status).toBe(403);
    });
  });

  describe('the log of a user', () => {
    it('has an entry for each answer and each run, newest first', async () => {
      const { logs: entries, ...page } = await logs();
      expect(page).toEqual({ success: true, page: 1, page_size: 10, has_more: false });
      expect(entries.map(({ event_type: type, question, level }) => [type, question, level])).toEqual([
        ['webhook', '{"order":7}', 'info'],
        ['chat', 'Forget this one', 'info'],
        ['chat', 'And without an agent?', 'info'],
        ['chat', 'What of 100%_sure?', 'info'],
      ]);
      expect(entries[3]).toEqual({
        id: expect.stringMatching(/^chat-/),
        event_type: 'chat',
        action: 'stream_answer',
        level: 'info',
        user: await world.idOf('alice'),
        question: 'What of 100%_sure?',
        timestamp: expect.stringMatching(/Z$/),
        response: expect.any(String),
        sources: [],
        tool_calls: [],
        agent_id: agentId,
        attachments: [],
      });
      expect((await logs({}, world.bob)).logs).toEqual([]);
    });

    it('is returned in pages without a gap', async () => {
      const all = (await logs()).logs;
      const pages = [await logs({ page: 0, page_size: 3 }), await logs({ page: 2, page_size: 3 })];
      expect(pages.map(({ page, has_more: more }) => [page, more])).toEqual([[1, true], [2, false]]); // oxfmt-ignore
      expect(pages.flatMap((page) => page.logs)).toEqual(all);
    });

    it('is filtered by type, level, text and agent', async () => {
      const questions = async (body: object) => (await logs(body)).logs.map(({ question }) => question);
      expect(await questions({ event_type: 'webhook' })).toEqual(['{"order":7}']);
      expect(await questions({ event_type: 'system' })).toEqual([]);
      expect(await questions({ level: 'error' })).toEqual([]);
      expect(await questions({ search: '0%_S' })).toEqual(['What of 100%_sure?']);
      expect(await questions({ api_key_id: agentId })).toEqual(['{"order":7}', 'What of 100%_sure?']);
    });

    it('drops the text of a deleted conversation', async () => {
      expect((await world.alice.post(`/api/delete_conversation?id=${deleted}`, {})).status).toBe(200);
      expect(JSON.stringify(await logs())).not.toContain('Forget this one');
      expect(await messages({})).toBe(2);
    });
  });
}
