import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { defaultToolId } from '../../src/resources/tools/defaults/default-tools.policy.js';
import { askOver, outlineOf } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { framesIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { mcpServerForTests, type McpServerForTests } from '../support/mcp-server.js';
import { call, say } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const MCP_SECRET = 'planted-mcp-secret-77aa';
const TURN = ['message_id', 'answer', 'tool_call pending', 'tool_call completed', 'answer', 'source', 'tool_calls', 'id', 'end'];

/** Models with tools: what is called, with whose rights, and what is shown. */
export function toolsStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let mcp: McpServerForTests;

  beforeAll(async () => {
    post = await LocalServer.started();
    mcp = await mcpServerForTests({ admits: ({ headers }) => headers.authorization === `Bearer ${MCP_SECRET}` });
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, makeBacking);
  });
  afterAll(async () => {
    await world.close();
    await mcp.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    post.answer = (_request, response) => answerJson(response, { posted: true });
    world.model.reset();
  });

  const createTool = async (body: object): Promise<string> => {
    const { status, body: created } = await replyOf(
      world.alice.post('/api/create_tool', { status: true, description: '-', ...body }),
    );
    expect([status, created]).toEqual([200, { id: expect.any(String) }]);
    return (created as { id: string }).id;
  };
  const apiTool = (actions: Readonly<Record<string, object>>) => {
    const whole = Object.entries(actions).map(([name, action]) => [
      name,
      { name, url: `${post.url}/${name}`, description: `Does ${name}`, active: true, ...action },
    ]);
    return createTool({ name: 'api_tool', displayName: 'API', config: { actions: Object.fromEntries(whole) as object } });
  };
  const sentToModel = () => world.model.completions.at(-1)!.body.messages.filter(({ role }) => role === 'tool');
  const offeredToModel = () =>
    ((world.model.completions.at(-1)!.body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);

  describe('a tool server', () => {
    it('is called once approved, with the owner’s token and the server’s own description', async () => {
      const id = await createTool({
        name: 'mcp_tool',
        displayName: 'Counter',
        config: { server_url: mcp.url, auth_type: 'bearer', bearer_token: MCP_SECRET },
      });
      const { tools } = await world.alice.json<{ tools: { id: string; actions: { name: string }[] }[] }>('/api/get_tools');
      const { actions } = tools.find((tool) => tool.id === id)!;
      const asking = actions.map((action) => ({ ...action, require_approval: action.name === 'count' }));
      expect((await world.alice.post('/api/update_tool_actions', { id, actions: asking })).status).toBe(200);
      const agent = await world.agent({ tools: [id] });
      world.model.next([...say('Counting. '), call('c1', 'echo', { word: 'hi' }), call('c2', 'count', {})], say('One.'));
      const paused = await askOver('/stream', world.alice, { question: 'Count?', agent_id: agent.id });
      expect(paused.toolCalls).toMatchObject([{ call_id: 'c1', status: 'completed', result: 'You said hi.' }]);
      expect(paused.pending).toMatchObject([{ call_id: 'c2', action_name: 'count', pause_type: 'awaiting_approval' }]);
      expect(mcp.calls.get('count')).toBeUndefined();
      await world.service.restart();
      const resumed = await askOver('/stream', world.alice, {
        conversation_id: paused.conversationId,
        tool_actions: [{ call_id: 'c2', decision: 'approved' }],
      });
      expect(resumed).toMatchObject({ answer: 'One.', toolCalls: [{ call_id: 'c1' }, { call_id: 'c2', status: 'completed' }] });
      expect(mcp.calls.get('count')).toBe(1);
      expect(sentToModel()).toMatchObject([{ content: 'You said hi.' }, { content: '1' }]);
      for (const shown of [paused.records, resumed.records, JSON.stringify(world.model.requests)])
        expect(shown).not.toContain(MCP_SECRET);
    });
  });

  describe('a caller with an agent’s key', () => {
    it('may call reading actions, and writing ones with the owner’s credentials only if the owner allows it', async () => {
      const id = await apiTool({
        look: { method: 'GET' },
        write: { method: 'POST' },
        allowed: { method: 'POST', require_approval: true },
      });
      const agent = await world.agent({ tools: [id], config: { api_write_allowlist: [`${id}:allowed`] } });
      const calls = [call('c1', 'look', {}), call('c2', 'write', {}), call('c3', 'allowed', {})];
      world.model.next(calls, say('Done.'));
      const asked = await askOver('/stream', world.nobody, { question: 'Go?', api_key: agent.key });
      expect(asked.toolCalls.map(({ status, error_type: type }) => [status, type])).toEqual([
        ['completed', undefined],
        ['denied', 'tool_not_allowed'],
        ['completed', undefined],
      ]);
      expect(post.requests.map(({ path }) => path)).toEqual(['/look', '/allowed']);

      world.model.next(calls, say('Done.'));
      const byOwner = await askOver('/stream', world.alice, { question: 'Go?', api_key: agent.key });
      expect(byOwner.pending).toMatchObject([{ call_id: 'c3' }]);
      expect(post.requests.map(({ path }) => path).slice(2)).toEqual(['/look', '/write']);
      const { resource_states: states } = await world.alice.json<{ resource_states: Record<string, unknown>[] }>(
        `/api/get_agent?id=${agent.id}`,
      );
      expect(states).toContainEqual(expect.objectContaining({ type: 'tool', id, owner_credential_writes: ['write', 'allowed'] }));
    });
  });

  describe('a model', () => {
    it('gets its errors in arguments reported, and no tool is called', async () => {
      const id = await apiTool({
        send: {
          method: 'POST',
          body: {
            type: 'object',
            properties: { count: { type: 'integer', description: '', filled_by_llm: true } },
            required: ['count'],
          },
        },
      });
      const agent = await world.agent({ tools: [id] });
      const wrong = { do: 'call', id: 'c2', name: 'send', arguments: '{"count":' } as const;
      world.model.next([call('c1', 'sand', {}), wrong, call('c3', 'send', { count: 'many' })], say('Sorry.'));
      const asked = await askOver('/stream', world.alice, { question: 'Go?', agent_id: agent.id });
      expect(asked.toolCalls.map(({ status, tool_name: name }) => [status, name])).toEqual([
        ['error', 'unknown'],
        ['error', 'api_tool'],
        ['error', 'api_tool'],
      ]);
      expect(sentToModel().map(({ content }) => content)).toEqual([
        expect.stringContaining('no tool called "sand"'),
        expect.stringContaining('one JSON object'),
        expect.stringContaining('count'),
      ]);
      expect(post.requests).toEqual([]);
    });

    it('that calls repeatedly has to answer eventually', async () => {
      const agent = await world.agent({ tools: [await apiTool({ look: { method: 'GET' } })] });
      world.model.always(({ tools }) => (tools ? [call('again', 'look', {})] : say('Enough.')));
      const asked = await askOver('/stream', world.alice, { question: 'Go?', agent_id: agent.id });
      expect([asked.answer, post.requests.length, asked.toolCalls.length]).toEqual(['Enough.', 25, 25]);
      expect(new Set(asked.toolCalls.map(({ call_id: id }) => id)).size).toBe(25);
    });

    it('keeps notes for a user without an agent, until the user disables that', async () => {
      const carol = await world.as('carol');
      world.model.next(
        [...say('Noted. '), call('c1', 'memory_create', { path: '/likes.md', file_text: 'tea' })],
        say('Tea it is.'),
      );
      const first = await askOver('/stream', carol, { question: 'I like tea.' });
      expect(outlineOf(first.records)).toEqual(TURN);
      world.model.next([...say('Looking. '), call('c1', 'memory_view', { path: '/likes.md' })], say('Tea.'));
      await askOver('/stream', carol, { question: 'What do I like?' });
      expect(sentToModel()).toMatchObject([{ content: expect.stringContaining('tea') as unknown }]);
      expect(offeredToModel()).toEqual(expect.arrayContaining(['memory_view', 'read_webpage']));
      await carol.post('/api/update_tool_status', { id: defaultToolId('memory'), status: false });
      await askOver('/stream', carol, { question: 'And now?' });
      expect(offeredToModel()).not.toContain('memory_view');
      expect(offeredToModel()).toContain('read_webpage');
    });

    it('of an agentic agent searches by itself, and the results become the sources of the answer', async () => {
      const form = new FormData();
      form.append('name', 'Harbour');
      form.append('file', new Blob(['The harbour of Brunsbek opens at six in the morning.']), 'harbour.txt');
      const uploaded = await fetch(`${world.service.url}/api/upload`, { method: 'POST', body: form, headers: await bearer() });
      const { task_id: task, source_id: source } = (await uploaded.json()) as Record<string, string>;
      await eventually(async () => (await world.alice.json(`/api/task_status?task_id=${task}`))['status'] === 'SUCCESS');
      const agent = await world.agent({ agent_type: 'agentic', source });
      world.model.next([call('c1', 'search', { query: 'When does the harbour open?' })], say('At six.'));
      const asked = await askOver('/stream', world.alice, { question: 'When does it open?', agent_id: agent.id });
      expect(asked.toolCalls).toMatchObject([{ tool_name: 'internal_search', action_name: 'search', status: 'completed' }]);
      const sources = framesIn(asked.records).find(({ data }) => data.type === 'source')!.data['source'];
      expect(sources).toMatchObject([{ text: expect.stringContaining('opens at six') as unknown, filename: 'harbour.txt' }]);
    });

    const bearer = async () => {
      const { SessionTokens } = await import('../../src/resources/identity/session-tokens.js');
      const tokens = world.service.service.app.get(SessionTokens, { strict: false });
      return { authorization: `Bearer ${await tokens.issue({ subject: 'alice', roles: [] })}` };
    };
  });

  describe('a stopped answer', () => {
    it('waits for a running call with side effects, and starts no other', async () => {
      const id = await apiTool({ first: { method: 'POST' }, second: { method: 'POST' } });
      const agent = await world.agent({ tools: [id] });
      let release: () => void = () => undefined;
      post.answer = (_request, response) => (release = () => answerJson(response, { posted: true }));
      world.model.next([...say('Now. '), call('c1', 'first', {}), call('c2', 'second', {})], say('Not this.'));
      const asking = askOver('/stream', world.alice, { question: 'Go?', agent_id: agent.id, visibility: 'listed' });
      await eventually(() => post.requests.length === 1);
      const [conversation] = (await world.alice.json<unknown[]>('/api/get_conversations')) as { id: string }[];
      const { queries } = await world.alice.json<{ queries: { message_id: string }[] }>(
        `/api/get_single_conversation?id=${conversation!.id}`,
      );
      expect((await world.alice.post(`/api/messages/${queries[0]!.message_id}/cancel`, {})).status).toBe(202);
      release();
      const asked = await asking.catch((error: unknown) => error);
      expect(asked).toMatchObject({ code: 'stopped' });
      expect(post.requests.map(({ path }) => path)).toEqual(['/first']);
      await eventually(async () => {
        const after = await world.alice.json<{ queries: { tool_calls: object[] }[] }>(
          `/api/get_single_conversation?id=${conversation!.id}`,
        );
        expect(after.queries[0]!.tool_calls).toMatchObject([{ call_id: 'c1', status: 'completed' }]);
        return true;
      });
    });
  });
}
