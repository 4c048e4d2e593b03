import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { researchStream } from '../../src/dialogue/answering/research/research.events.js';
import { askOver, outlineOf } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, Client, messageIdIn, recordsIn, type Streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { queryOf, researchScript, tasksOf } from '../support/researches.js';
import { call, hang, say } from '../support/scripted-model-server.js';
import { addedSource } from '../support/sources.js';
import { serviceForTests } from '../support/service.js';
import { eventsOf } from '../support/turns.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const END = ['source', 'tool_calls', 'id', 'end'];
const step = (number: number) => [`research_progress researching ${number}`, `research_progress complete ${number}`];
const PLANNED = ['message_id', 'research_progress planning', 'research_plan'];

/** Research agents as their users see them: frames, clarifying questions, approvals, headless runs. */
export function researchStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let agent: Readonly<{ id: string; key: string }>;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { posted: true }));
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, makeBacking);
    agent = await world.agent({ agent_type: 'research' });
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    world.model.reset();
    world.model.always(researchScript(['q1', 'q2']));
  });

  const ask = (body: object = {}, until?: (text: string) => boolean) =>
    world.alice.stream({ question: 'Why?', agent_id: agent.id, ...body }, until);
  const outline = ({ frames }: Streamed) =>
    frames.map(({ data }) => {
      const { status, step: number } = (data['data'] ?? {}) as { status?: string; step?: number };
      return [data.type, status, number].filter((part) => part !== undefined).join(' ');
    });
  const asked = () => tasksOf(world.model.completions);

  it('shows its plan and its steps, answers, and replays the same', async () => {
    const answer = await ask();
    expect(outline(answer)).toEqual([
      ...[...PLANNED, ...step(1), ...step(2), 'research_progress synthesizing', 'answer'],
      ...END,
    ]);
    expect(answerIn(answer)).toBe('The answer.');
    const data = (type: string) => answer.frames.flatMap((frame) => (frame.data.type === type ? [frame.data['data']] : []));
    expect(data('research_plan')).toEqual([
      { steps: ['q1', 'q2'].map((query) => ({ query, rationale: `Why ${query}` })), complexity: 'moderate' },
    ]);
    expect(data('research_progress')).toEqual([
      { status: 'planning' },
      { status: 'researching', step: 1, total: 2, query: 'q1' },
      { status: 'complete', step: 1, total: 2, query: 'q1' },
      { status: 'researching', step: 2, total: 2, query: 'q2' },
      { status: 'complete', step: 2, total: 2, query: 'q2' },
      { status: 'synthesizing', elapsed_seconds: expect.any(Number), tokens_used: expect.any(Number) },
    ]);
    expect(asked()).toEqual(['clarify', 'plan', 'q1', 'q2', 'answer']);
    expect(recordsIn((await world.alice.resume(messageIdIn(answer))).text)).toBe(recordsIn(answer.text));
  });

  it('asks back once if the question is unclear, and researches the reply', async () => {
    const unclear = { clarify: () => say('{"needs_clarification": true, "question": "Which returns?"}') };
    world.model.always(researchScript(['q1'], unclear));
    const first = await ask();
    expect(outline(first)).toEqual(['message_id', 'answer', ...END]);
    expect(answerIn(first)).toBe('Which returns?');
    const conversation_id = first.frames.find(({ data }) => data.type === 'id')!.data['id'];
    const second = await ask({ question: 'Those of the shops.', conversation_id });
    expect(outline(second)).toContain('research_plan');
    expect(asked()).toEqual(['clarify', 'plan', 'q1', 'answer']);
    expect(JSON.stringify(world.model.completions[1]!.body.messages)).toContain('Which returns?');
  });

  it('searches its sources for each step, and shows each source once', async () => {
    const source = await addedSource(world.alice, 'House rules', 'Tea is at four. Coffee is at ten.');
    const reader = await world.agent({ agent_type: 'research', source });
    world.model.always(researchScript(['When is tea?', 'When is coffee?']));
    const answer = await ask({ agent_id: reader.id });
    const { data } = answer.frames.find((frame) => frame.data.type === 'source')!;
    expect(data['source']).toHaveLength(1);
    const steps = world.model.completions.filter(({ body }) => queryOf(body) !== '');
    for (const { body } of steps) expect(JSON.stringify(body.messages)).toContain('Tea is at four.');
    const offered = steps.map(({ body }) =>
      (body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name),
    );
    expect(offered[0]).toEqual(['reason', 'search', 'list_files']);
  });

  it('runs headless without asking back, and its answer is that of the run', async () => {
    const unclear = { clarify: () => say('{"needs_clarification": true, "question": "Which?"}') };
    world.model.always(researchScript(['q1', 'q2'], unclear));
    const hook = await webhookPath(world.alice, agent.id);
    const runId = await taskOf(world.nobody.post(hook, '{"why": "because"}'));
    expect(await endOf(world.nobody, runId)).toMatchObject({ status: 'SUCCESS', result: { result: { answer: 'The answer.' } } });
    expect(asked()).toEqual(['plan', 'q1', 'q2', 'answer']);
    const facts = (await eventsOf(world.backing.store, researchStream(runId))).map(({ type }) => type);
    expect(facts).toEqual(['ResearchPlanned', 'ResearchStepReported', 'ResearchStepReported']);
  });

  it('answers /api/answer with a single object', async () => {
    const { body } = await replyOf(world.alice.post('/api/answer', { question: 'Why?', agent_id: agent.id }));
    expect(body).toMatchObject({ answer: 'The answer.', sources: [], tool_calls: [] });
  });

  it('is stopped during a step', async () => {
    world.model.always(researchScript(['q1', 'q2'], { q2: () => [hang] }));
    const answer = await ask({}, (text) => text.includes('"step":2'));
    const id = messageIdIn(answer);
    await eventually(() => asked().includes('q2'));
    expect((await world.alice.post(`/api/messages/${id}/cancel`, '')).status).toBe(202);
    expect((await world.alice.resume(id)).frames.at(-1)!.data).toMatchObject({ type: 'error', code: 'stopped' });
    await eventually(() => world.model.completions.at(-1)!.closed);
  });

  describe('a call in a step that requires approval', () => {
    it('pauses the turn, which continues within the step after a restart', async () => {
      const send_card = {
        ...{ name: 'send_card', url: `${post.url}/send_card`, method: 'POST', description: 'Sends a card', active: true },
        require_approval: true,
      };
      const tool = { name: 'api_tool', displayName: 'Cards', description: '-', status: true, config: { actions: { send_card } } };
      const { id } = (await replyOf(world.alice.post('/api/create_tool', tool))).body as { id: string };
      const sender = await world.agent({ agent_type: 'research', tools: [id] });
      world.model.always(
        researchScript(['q1', 'q2'], {
          q2: ({ messages }) =>
            messages.some(({ role }) => role === 'tool') ? say('Sent.') : [call('c1', 'send_card', { text: 'hello' })],
        }),
      );
      const paused = await askOver('/stream', world.alice, { question: 'Why?', agent_id: sender.id });
      expect(paused.pending).toMatchObject([{ call_id: 'c1' }]);
      await world.service.restart();
      const resumed = await askOver('/stream', world.alice, {
        conversation_id: paused.conversationId,
        tool_actions: [{ call_id: 'c1', decision: 'approved' }],
      });
      expect(outlineOf(resumed.records)).toEqual([
        ...['message_id', 'tool_call pending', 'tool_call completed'],
        ...['research_progress', 'research_progress', 'answer'],
        ...END,
      ]);
      expect(resumed.toolCalls).toMatchObject([{ call_id: 'c1', status: 'completed' }]);
      expect(post.requests).toHaveLength(1);
      expect(asked()).toEqual(['clarify', 'plan', 'q1', 'q2', 'q2', 'answer']);
    });
  });

  it('with the built-in model investigates the question itself, and quotes what it finds', async () => {
    const service = await serviceForTests({}, makeBacking);
    try {
      const client = new Client(service.url);
      const source = await addedSource(client, 'House rules', 'Tea is at four. Coffee is at ten.');
      const body = {
        name: 'Reader',
        description: '-',
        chunks: 4,
        retriever: 'classic',
        prompt_id: 'default',
        status: 'published',
      };
      const { id } = await replyOf(client.post('/api/create_agent', { ...body, source, agent_type: 'research' })).then(
        (reply) => reply.body as { id: string },
      );
      const answer = await client.stream({ question: 'When is tea?', agent_id: id });
      expect(outline(answer).filter((frame) => frame !== 'answer')).toEqual([
        ...[...PLANNED, ...step(1), 'research_progress synthesizing'],
        ...END,
      ]);
      expect(answerIn(answer)).toContain('Tea is at four.');
    } finally {
      await service.close();
    }
  });
}
