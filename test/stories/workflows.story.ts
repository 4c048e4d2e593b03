import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { messageIdIn, recordsIn, withoutRepeats } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { researchScript } from '../support/researches.js';
import { call, type CompletionRequest, hang, refuse, say, type Step } from '../support/scripted-model-server.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { chain, edge, type GraphBody, node } from '../support/workflow-graphs.js';
import { openWorld, type World } from '../support/world.js';

type Frame = Readonly<Record<string, unknown> & { type: string }>;
type RunRecord = Readonly<{
  status: string;
  reason: string | null;
  error: string | null;
  inputs: Record<string, unknown>;
  result: Record<string, unknown>;
  steps: readonly Record<string, unknown>[];
  started_at: string;
  ended_at: string | null;
  [field: string]: unknown;
}>;

const agentNode = (id: string, data: object = {}) => node('agent', id, { prompt_template: `Do ${id}`, ...data });
const end = (template = '') => node('end', 'end', { output_template: template });
/** The node that a model request belongs to, from the node's prompt. */
const nodeOf = ({ messages }: CompletionRequest): string => {
  const asked = messages.findLast(({ role }) => role === 'user')!.content;
  return /Do (\w+)/.exec(JSON.stringify(asked))?.[1] ?? 'none';
};
const isAnswered = ({ messages }: CompletionRequest) => messages.some(({ role }) => role === 'tool');

/** Workflows as their users see them: what a run shows, how it continues, and what is recorded. */
export function workflowsStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { posted: post.requests.length }));
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, makeBacking);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    world.model.reset();
    world.model.always((request: CompletionRequest) => say(`${nodeOf(request)} `, 'done. '));
  });

  const agentWith = async (graph: GraphBody) => {
    const response = await world.alice.post('/api/workflows', { name: 'Steps', ...graph });
    const body = (await response.json()) as { data: { id: string } };
    if (!body.data) throw new Error(JSON.stringify(body));
    return { workflowId: body.data.id, ...(await world.agent({ agent_type: 'workflow', workflow: body.data.id })) };
  };
  const asked = async (graph: GraphBody, question = 'Why?') => {
    const agent = await agentWith(graph);
    const stream = await world.alice.stream({ question, agent_id: agent.id });
    const frames = stream.frames.map(({ data }) => data as Frame);
    return { agent, stream, frames, runId: frames.find(({ type }) => type === 'workflow_run')!['workflow_run_id'] as string };
  };
  const record = async (id: string) => (await world.alice.json<{ data: RunRecord }>(`/api/workflow_runs/${id}`)).data;
  const over = async (id: string) => {
    await eventually(async () => (await record(id)).status !== 'running');
    return record(id);
  };
  const brief = (frames: readonly Frame[]) =>
    frames.map((frame) =>
      frame.type === 'workflow_step' ? `${frame['node_id'] as string} ${frame['status'] as string}` : frame.type,
    );
  const steps = (frames: readonly Frame[], status = 'completed') =>
    frames.filter((frame) => frame.type === 'workflow_step' && frame['status'] === status);
  const answerIn = (frames: readonly Frame[]) =>
    frames.flatMap((frame) => (frame.type === 'answer' ? [frame['answer'] as string] : [])).join('');
  const tool = async (requiresApproval: boolean) => {
    const body = { type: 'object', properties: { text: { type: 'string', description: '', filled_by_llm: true } } };
    const action = {
      ...{ name: 'send_card', method: 'POST', url: `${post.url}/send_card`, description: 'Sends', active: true, body },
      require_approval: requiresApproval,
    };
    const tools = {
      name: 'api_tool',
      displayName: 'Cards',
      description: 'Mine',
      config: { actions: { send_card: action } },
      status: true,
    };
    return ((await (await world.alice.post('/api/create_tool', tools)).json()) as { id: string }).id;
  };
  const sends = (request: CompletionRequest): readonly Step[] =>
    nodeOf(request) === 'send' && !isAnswered(request)
      ? [call('k1', 'send_card', { text: 'hi' })]
      : say(`${nodeOf(request)} done. `);

  describe('a run', () => {
    it('shows itself, its nodes and their text in order, and a replay shows the same', async () => {
      const { frames, stream, runId } = await asked(
        chain(
          node('start'),
          agentNode('first'),
          node('state', 'set', { operations: [{ expression: '1 + 1', target_variable: 'two' }] }),
          end('Two is {{ two }}.'),
        ),
      );
      expect(withoutRepeats(brief(frames))).toEqual([
        ...['message_id', 'workflow_run', 'start running', 'start completed', 'first running', 'answer', 'first completed'],
        ...['set running', 'set completed', 'end running', 'answer', 'end completed', 'source', 'tool_calls', 'id', 'end'],
      ]);
      expect(answerIn(frames)).toBe('first done. \n\nTwo is 2.');
      expect(steps(frames)).toEqual([
        expect.objectContaining({
          node_type: 'start',
          node_title: 'start',
          state_delta: { query: 'Why?', input_documents: [] },
          output: null,
        }),
        expect.objectContaining({ node_id: 'first', state_delta: { node_first_output: 'first done.' }, output: 'first done.' }),
        expect.objectContaining({ node_id: 'set', state_delta: { two: 2 }, output: null }),
        expect.objectContaining({ node_id: 'end', state_delta: {}, output: null }),
      ]);
      expect(recordsIn((await world.alice.resume(frames[0]!['message_id'] as string)).text)).toBe(recordsIn(stream.text));
      expect(await record(runId)).toMatchObject({
        id: runId,
        status: 'completed',
        reason: null,
        error: null,
        inputs: { query: 'Why?' },
      });
    });

    it('records the result and the duration of each step', async () => {
      const { agent, runId } = await asked(chain(node('start'), agentNode('first'), end()));
      const run = await record(runId);
      expect(run).toMatchObject({
        workflow_id: agent.workflowId,
        workflow_version: 1,
        user_id: await world.idOf('alice'),
        agent_id: agent.id,
      });
      expect(run.result).toEqual({ query: 'Why?', input_documents: [], node_first_output: 'first done.' });
      expect(run.steps.map((step) => [step['node_id'], step['node_type'], step['status'], step['error']])).toEqual([
        ['start', 'start', 'completed', null],
        ['first', 'agent', 'completed', null],
        ['end', 'end', 'completed', null],
      ]);
      for (const step of run.steps) expect(step['duration_ms']).toBeGreaterThanOrEqual(0);
      expect(Date.parse(run.ended_at!)).toBeGreaterThanOrEqual(Date.parse(run.started_at));
    });

    it('is visible only to its user, not even to the owner of the workflow', async () => {
      const { runId, agent } = await asked(chain(node('start'), end('Bye.')));
      const { team } = (await (await world.alice.post('/api/teams', { name: 'Askers' })).json()) as { team: { id: string } };
      await world.alice.post(`/api/teams/${team.id}/members`, { user_id: await world.idOf('bob'), role: 'team_member' });
      await world.alice.post(`/api/teams/${team.id}/grants`, { resource_type: 'agent', resource_id: agent.id });
      const byBob = await world.bob.stream({ question: 'Why not?', agent_id: agent.id });
      const runOfBob = byBob.frames.map(({ data }) => data as Frame).find(({ type }) => type === 'workflow_run')!;
      expect((await world.bob.get(`/api/workflow_runs/${runOfBob['workflow_run_id'] as string}`)).status).toBe(200);
      expect((await world.alice.get(`/api/workflow_runs/${runOfBob['workflow_run_id'] as string}`)).status).toBe(404);
      expect((await world.bob.get(`/api/workflow_runs/${runId}`)).status).toBe(404);
      expect((await world.nobody.get(`/api/workflow_runs/${runId}`)).status).toBe(401);
      expect((await world.alice.get(`/api/workflow_runs/${crypto.randomUUID()}`)).status).toBe(404);
      expect((await world.alice.get('/api/workflow_runs/nothing')).status).toBe(404);
    });

    it('uses the version of the graph from when it was asked', async () => {
      const agent = await agentWith(chain(node('start'), end('One.')));
      const changed = await world.alice.put(`/api/workflows/${agent.workflowId}`, {
        name: 'Steps',
        ...chain(node('start'), end('Two.')),
      });
      expect(changed.status).toBe(200);
      const { frames } = await world.alice.stream({ question: 'Why?', agent_id: agent.id });
      const shown = frames.map(({ data }) => data as Frame);
      expect(answerIn(shown)).toBe('Two.');
      const runId = shown.find(({ type }) => type === 'workflow_run')!['workflow_run_id'] as string;
      expect(await record(runId)).toMatchObject({ workflow_version: 2 });
    });

    it('follows the branch that a condition chooses, and records a case that cannot be evaluated', async () => {
      const cases = [
        { name: 'broken', expression: 'missing.field > 1', sourceHandle: 'broken' },
        { name: 'asked', expression: 'query == "Why?"', sourceHandle: 'asked' },
      ];
      const { frames, runId } = await asked({
        nodes: [
          node('start'),
          node('condition', 'if', { mode: 'advanced', cases }),
          node('end', 'yes', { output_template: 'Because.' }),
          node('end', 'no', { output_template: 'No.' }),
        ],
        edges: [edge('start', 'if'), edge('if', 'no', 'broken'), edge('if', 'yes', 'asked'), edge('if', 'no', 'else')],
      });
      expect(answerIn(frames)).toBe('Because.');
      expect((await record(runId)).steps[1]).toMatchObject({ problems: [expect.stringContaining('"broken"')] });
    });

    it('visits a node again as a new step, and ends after fifty steps', async () => {
      const loop: GraphBody = {
        nodes: [
          node('start'),
          node('state', 'count', { operations: [{ expression: 'size(query)', target_variable: 'n' }] }),
          node('condition', 'if', { mode: 'advanced', cases: [{ name: 'more', expression: 'n > 0', sourceHandle: 'more' }] }),
          end('Never.'),
        ],
        edges: [edge('start', 'count'), edge('count', 'if'), edge('if', 'count', 'more'), edge('if', 'end', 'else')],
      };
      const { frames, runId } = await asked(loop);
      expect(steps(frames, 'failed')).toEqual([expect.objectContaining({ error: expect.stringContaining('at most 50 steps') })]);
      expect(brief(frames).slice(-4)).toEqual(['count failed', 'error', 'id', 'end']);
      const run = await record(runId);
      expect([run.status, run.reason, run.steps.length]).toEqual(['failed', 'step_limit', 50]);
    });
  });

  describe('a node that fails', () => {
    it('ends the run with its step, then the error, then the usual end', async () => {
      world.model.always((request: CompletionRequest) => (nodeOf(request) === 'second' ? [refuse(400)] : say('first done. ')));
      const { frames, runId } = await asked(chain(node('start'), agentNode('first'), agentNode('second'), end()));
      expect(brief(frames).slice(-5)).toEqual(['second running', 'second failed', 'error', 'id', 'end']);
      const failed = steps(frames, 'failed')[0]!;
      expect(frames.find(({ type }) => type === 'error')!['error']).toBe(failed['error']);
      const run = await record(runId);
      expect([run.status, run.reason, run.error]).toEqual(['failed', 'node_failed', failed['error']]);
      expect(run.steps.at(-1)).toMatchObject({ node_id: 'second', status: 'failed', error: failed['error'] });
    });

    it('names the expression that failed, and the reason', async () => {
      const operations = [{ expression: 'missing + 1', target_variable: 'total' }];
      const { frames } = await asked(chain(node('start'), node('state', 'set', { operations }), end()));
      expect(frames.find(({ type }) => type === 'error')).toMatchObject({
        error: expect.stringContaining('The expression of total could not be evaluated'),
        code: 'expression_failed',
      });
    });

    it('with a schema fails if the model returns another value, and otherwise outputs the parsed value', async () => {
      const json_schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
      const graph = chain(
        node('start'),
        agentNode('first', { json_schema, stream_to_user: false, output_variable: 'out' }),
        end('{{ out.n }}'),
      );
      world.model.always(() => say('```json\n{"n": 7}\n```'));
      expect(answerIn((await asked(graph)).frames)).toBe('7');
      world.model.always(() => say('seven'));
      const { frames } = await asked(graph);
      expect(steps(frames, 'failed')).toEqual([
        expect.objectContaining({ error: expect.stringContaining('schema of this node') }),
      ]);
    });
  });

  it('the output of a silent node is available to later ones, and an invalid template is used as literal text', async () => {
    const { frames } = await asked(
      chain(
        node('start'),
        agentNode('first', { stream_to_user: false, output_variable: 'draft' }),
        end('{{ draft }} and {{ 1 | nothing }}'),
      ),
    );
    expect(frames.some(({ type }) => type === 'notice')).toBe(true);
    expect(answerIn(frames)).toBe('{{ draft }} and {{ 1 | nothing }}');
    expect(brief(frames)).toEqual([
      ...['message_id', 'workflow_run', 'start running', 'start completed', 'first running', 'first completed', 'end running'],
      ...['notice', 'answer', 'end completed', 'source', 'tool_calls', 'id', 'end'],
    ]);
  });

  it('a research node shows its plan and its steps, and a replay shows the same', async () => {
    world.model.always(researchScript(['q1']));
    const agent = await agentWith(chain(node('start'), agentNode('dig', { agent_type: 'research' }), end('Done.')));
    const answer = await world.alice.stream({ question: 'Why?', agent_id: agent.id });
    const types = answer.frames.map(({ data }) => data.type);
    expect(types.filter((type) => type.startsWith('research'))).toEqual([
      ...['research_progress', 'research_plan', 'research_progress', 'research_progress', 'research_progress'],
    ]);
    expect(answerIn(answer.frames.map(({ data }) => data))).toBe('The answer.\n\nDone.');
    expect(recordsIn((await world.alice.resume(messageIdIn(answer))).text)).toBe(recordsIn(answer.text));
  });

  it('nodes get the chat history, and templates can use it', async () => {
    const agent = await agentWith(chain(node('start'), agentNode('first'), end('{{ chat_history | length }} {{ agent.query }}')));
    const first = await askOver('/stream', world.alice, { question: 'One?', agent_id: agent.id });
    const second = await askOver('/stream', world.alice, { question: 'Two?', conversation_id: first.conversationId });
    expect([first.answer, second.answer]).toEqual(['first done. \n\n0 One?', 'first done. \n\n1 Two?']);
    expect(JSON.stringify(world.model.completions.at(-1)!.body.messages)).toContain('One?');
  });

  describe('a call that requires approval inside a node', () => {
    const pausing = async () => {
      const id = await tool(true);
      world.model.always(sends);
      const { frames, runId } = await asked(
        chain(node('start'), agentNode('first'), agentNode('send', { tools: [id] }), agentNode('last'), end('Bye.')),
      );
      expect(brief(frames).slice(-6)).toEqual(['tool_call', 'source', 'tool_calls', 'tool_calls_pending', 'id', 'end']);
      return { runId, frames, conversationId: frames.at(-2)!['id'] as string };
    };
    const modelAsks = (name: string) => world.model.completions.filter(({ body }) => nodeOf(body) === name).length;

    it('pauses the turn, which continues inside the node once it is approved, even after a restart', async () => {
      const { runId, conversationId } = await pausing();
      const waiting = await record(runId);
      expect([waiting.status, waiting.steps.at(-1)!['status'], post.requests.length]).toEqual(['running', 'running', 0]);
      await world.service.restart({});
      const resumed = await world.alice.stream({
        conversation_id: conversationId,
        tool_actions: [{ call_id: 'k1', decision: 'approved' }],
      });
      const frames = resumed.frames.map(({ data }) => data as Frame);
      expect(brief(frames).filter((each) => !/answer|tool_call$/.test(each))).toEqual([
        ...['message_id', 'send completed', 'last running', 'last completed', 'end running', 'end completed'],
        ...['source', 'tool_calls', 'id', 'end'],
      ]);
      expect(answerIn(frames)).toBe('send done. last done. \n\nBye.');
      expect([post.requests.length, modelAsks('first'), modelAsks('send')]).toEqual([1, 1, 2]);
      const run = await record(runId);
      expect([run.status, run.steps.map((step) => step['status'])]).toEqual(['completed', Array(5).fill('completed')]);
      expect(run.steps[2]!['tool_calls']).toEqual([{ tool_name: 'api_tool', action_name: 'send_card', status: 'completed' }]);
      const { queries } = await world.alice.json<{ queries: { response: string }[] }>(
        `/api/get_single_conversation?id=${conversationId}`,
      );
      expect(queries[0]!.response).toBe('first done. send done. last done. \n\nBye.');
    });

    it('is not run when it is denied, and the run continues', async () => {
      const { runId, conversationId } = await pausing();
      await askOver('/stream', world.alice, {
        conversation_id: conversationId,
        tool_actions: [{ call_id: 'k1', decision: 'denied' }],
      });
      const run = await record(runId);
      expect([run.status, post.requests.length, run.steps[2]!['tool_calls']]).toEqual([
        'completed',
        0,
        [{ tool_name: 'api_tool', action_name: 'send_card', status: 'denied' }],
      ]);
    });

    it('ends the run when another question is asked instead, or the conversation is deleted', async () => {
      const { runId, conversationId } = await pausing();
      await askOver('/stream', world.alice, { question: 'Another?', conversation_id: conversationId });
      expect(await over(runId)).toMatchObject({ status: 'failed', reason: 'moved_on' });
      const again = await pausing();
      expect((await world.alice.post(`/api/delete_conversation?id=${again.conversationId}`, {})).status).toBe(200);
      expect(await over(again.runId)).toMatchObject({ status: 'stopped', reason: 'conversation_deleted' });
    });
  });

  it('code reads the state and creates artifacts, which later nodes read', async () => {
    const code = "import json\nn = len(json.load(open('state.json'))['query'])\nopen('count.txt', 'w').write(f'{n} characters')";
    const reads = node('agent', 'first', { prompt_template: 'Do first', input_documents: ['table'], stream_to_user: false });
    const { frames, runId } = await asked(
      chain(node('start'), node('code', 'count', { code, output_variable: 'table' }), reads, end('{{ table.filename }}')),
    );
    const conversationId = frames.find(({ type }) => type === 'id')!['id'] as string;
    expect(answerIn(frames)).toBe('count.txt');
    expect(JSON.stringify(world.model.completions.at(-1)!.body.messages)).toContain('4 characters');
    const { artifact_id: id } = steps(frames).find(({ node_id: name }) => name === 'count')!['output'] as { artifact_id: string };
    const listed = await world.alice.get(`/api/artifacts?workflow_run_id=${runId}`);
    expect(await listed.text()).toContain(id);
    // After a reload, the web client finds the run, and so its artifacts, in the stored conversation.
    expect(await world.alice.json(`/api/get_single_conversation?id=${conversationId}`)).toMatchObject({
      queries: [{ workflow_run_id: runId }],
    });
  }, 120_000);

  it('stopping an answer stops its run', async () => {
    world.model.always(() => [...say('so far '), hang]);
    const agent = await agentWith(chain(node('start'), agentNode('first'), end()));
    let known: (id: string) => void;
    const messageId = new Promise<string>((resolve) => (known = resolve));
    const asking = world.alice.stream({ question: 'Why?', agent_id: agent.id }, (text) => {
      const found = /"message_id":"([^"]+)"/.exec(text)?.[1];
      if (found && text.includes('so far')) known(found);
      return false;
    });
    expect((await world.alice.post(`/api/messages/${await messageId}/cancel`, {})).status).toBe(202);
    const frames = (await asking).frames.map(({ data }) => data as Frame);
    expect(frames.at(-1)).toMatchObject({ type: 'error', code: 'stopped' });
    const runId = frames.find(({ type }) => type === 'workflow_run')!['workflow_run_id'] as string;
    expect(await over(runId)).toMatchObject({
      status: 'stopped',
      reason: 'stopped',
      steps: [{}, { status: 'failed', error: 'stopped' }],
    });
  });

  it('deleting a workflow deletes its runs', async () => {
    const agent = await agentWith(chain(node('start'), end('Bye.')));
    const { frames } = await world.alice.stream({ question: 'Why?', agent_id: agent.id });
    const runId = frames.find(({ data }) => data.type === 'workflow_run')!.data['workflow_run_id'] as string;
    expect((await record(runId)).status).toBe('completed');
    expect((await world.alice.delete(`/api/delete_agent?id=${agent.id}`)).status).toBe(200);
    await world.alice.delete(`/api/workflows/${agent.workflowId}`);
    await eventually(async () => (await world.alice.get(`/api/workflow_runs/${runId}`)).status === 404);
  });

  it('a webhook run with a failing node returns the answer so far, and its record says that it failed', async () => {
    world.model.always((request: CompletionRequest) => (nodeOf(request) === 'second' ? [refuse(400)] : say('first done. ')));
    const agent = await agentWith(chain(node('start'), agentNode('first'), agentNode('second'), end()));
    const path = await webhookPath(world.alice, agent.id);
    const { status, result } = await endOf(world.alice, await taskOf(world.nobody.post(path, { go: true })));
    expect(status).toBe('SUCCESS');
    expect(result).toMatchObject({ status: 'success', result: { answer: 'first done. ' } });
    expect(world.model.completions.filter(({ body }) => nodeOf(body) === 'first')).toHaveLength(1);
  });
}
