import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type AnsweringRoute, type Asked, askOver, outlineOf } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { framesIn, recordsIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, say } from '../support/scripted-model-server.js';
import { TurnLog } from '../support/turn-log.js';
import { digestOf } from '../support/whole-turn.js';
import { openWorld, type World } from '../support/world.js';

const ROUTES: readonly AnsweringRoute[] = ['/stream', '/api/answer'];
const CLIENT_TOOL = {
  type: 'function',
  function: { name: 'pick_colour', description: 'Asks the user', parameters: { type: 'object', properties: {} } },
};
const ASKING = [...say('Let me ', 'see. '), call('c1', 'send_card', { text: 'hello' })];

type Query = Record<string, unknown> & { tool_calls: Record<string, unknown>[] };

/** Paused turns: an approved call happens once, and nothing that was shown is lost. */
export function pausesStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let agent: Readonly<{ id: string; key: string }>;
  let toolId: string;
  let log: TurnLog;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { posted: post.requests.length }));
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, makeBacking);
    log = new TurnLog(world.backing.store);
    toolId = await cardTool();
    agent = await world.agent({ tools: [toolId] });
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    world.model.reset();
  });

  const action = (name: string, method: string, more: object = {}) => ({
    name,
    method,
    url: `${post.url}/${name}`,
    description: `Does ${name}`,
    active: true,
    ...(method === 'GET'
      ? {}
      : { body: { type: 'object', properties: { text: { type: 'string', description: '', filled_by_llm: true } } } }),
    ...more,
  });
  const cardConfig = () => ({
    actions: {
      send_card: action('send_card', 'POST', { require_approval: true }),
      tear_card: action('tear_card', 'POST', { require_approval: true }),
      count_cards: action('count_cards', 'GET'),
    },
  });
  async function cardTool(): Promise<string> {
    const tool = { name: 'api_tool', displayName: 'Cards', description: 'Sends cards', config: cardConfig(), status: true };
    const response = await world.alice.post('/api/create_tool', tool);
    return ((await response.json()) as { id: string }).id;
  }

  const ask = (route: AnsweringRoute, body: object = {}) =>
    askOver(route, world.alice, { question: 'Send a card?', agent_id: agent.id, visibility: 'listed', ...body });
  const resume = (route: AnsweringRoute, { conversationId }: Asked, actions: readonly object[], as = world.alice) =>
    askOver(route, as, { conversation_id: conversationId, tool_actions: actions });
  const stored = async ({ conversationId }: Asked): Promise<Query[]> =>
    (await world.alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${conversationId}`)).queries;
  const sent = () => post.requests.map(({ path }) => path);
  const sentToModel = () => world.model.completions.at(-1)!.body.messages.filter(({ role }) => role === 'tool');

  /** The journal of a finished turn, which is the same for every reader. */
  async function wholeJournal(messageId: string): Promise<string> {
    await eventually(async () => (await log.refresh()).turns.get(messageId)?.seals.length === 1);
    const journal = await log.journalOf(messageId);
    expect(recordsIn((await world.alice.resume(messageId)).text)).toBe(journal);
    expect(framesIn(journal).map(({ id }) => id)).toEqual([...framesIn(journal).keys()]);
    expect(await world.alice.json(`/api/messages/${messageId}/digest`)).toMatchObject({
      sha256: digestOf(journal),
      complete: true,
    });
    return journal;
  }

  describe.each(ROUTES)('a pause over %s', (route) => {
    it('shows the pending calls, and keeps what was said before', async () => {
      world.model.next(ASKING);
      const paused = await ask(route);
      expect(paused).toMatchObject({ status: 200, answer: 'Let me see. ', toolCalls: [], error: undefined });
      expect(paused.pending).toEqual([
        {
          call_id: 'c1',
          name: 'send_card',
          llm_name: 'send_card',
          tool_name: 'api_tool',
          action_name: 'send_card',
          arguments: { text: 'hello' },
          pause_type: 'awaiting_approval',
          thought_signature: null,
          expires_at: expect.any(String),
        },
      ]);
      expect(sent()).toEqual([]);
      if (route === '/stream') {
        const end = ['tool_call awaiting_approval', 'source', 'tool_calls', 'tool_calls_pending', 'id', 'end'];
        expect(outlineOf(paused.records).slice(-7)).toEqual(['answer', ...end]);
      }
      await eventually(async () => {
        expect(await stored(paused)).toMatchObject([
          { response: 'Let me see. ', status: 'streaming', tool_calls: [{ call_id: 'c1', status: 'awaiting_approval' }] },
        ]);
        return true;
      });
    });

    const cases: readonly (readonly [string, object[], string | undefined, object, string[]])[] = [
      [
        'approved',
        [{ call_id: 'c1', decision: 'approved' }],
        'completed',
        { content: expect.stringContaining('"posted":1') as unknown },
        ['/send_card'],
      ],
      [
        'denied with a comment',
        [{ call_id: 'c1', decision: 'denied', comment: 'too long' }],
        'denied',
        { content: 'Tool execution denied by user. Reason: too long' },
        [],
      ],
    ];
    it.each(cases)('continues when it is %s, even after a restart', async (_, actions, status, told, requests) => {
      world.model.next(ASKING, say('Done.'));
      const paused = await ask(route);
      await world.service.restart();
      const resumed = await resume(route, paused, actions);
      expect(resumed).toMatchObject({ status: 200, answer: 'Done.', pending: [], error: undefined });
      expect(resumed.toolCalls).toMatchObject([
        { call_id: 'c1', action_name: 'send_card', arguments: { text: 'hello' }, status },
      ]);
      expect(sentToModel()).toMatchObject([{ tool_call_id: 'c1', ...told }]);
      expect(sent()).toEqual(requests);
      const [query] = await stored(paused);
      expect(query).toMatchObject({ response: 'Let me see. Done.', status: 'complete', tool_calls: [{ call_id: 'c1', status }] });
      const journal = await wholeJournal(query!['message_id'] as string);
      if (route === '/stream') expect(journal).toBe(paused.records + resumed.records);
      const outcome = status === 'completed' ? ['tool_call pending', 'tool_call completed'] : ['tool_call denied'];
      const goesOn = ['message_id', ...outcome, 'answer', 'source', 'tool_calls', 'id', 'end'];
      expect(outlineOf(journal).slice(-goesOn.length)).toEqual(goesOn);
    });

    it('denies the calls that a resume leaves out, and runs the others', async () => {
      world.model.next(
        [call('c1', 'send_card', { text: 'one' }), call('c2', 'tear_card', { text: 'two' }), call('c3', 'count_cards', {})],
        say('Half done.'),
      );
      const paused = await ask(route);
      // The call that requires no approval has already run.
      expect(sent()).toEqual(['/count_cards']);
      expect(paused.toolCalls).toMatchObject([{ call_id: 'c3', status: 'completed' }]);
      await world.service.restart();
      const resumed = await resume(route, paused, [{ call_id: 'c2', decision: 'approved' }]);
      expect(sent()).toEqual(['/count_cards', '/tear_card']);
      expect(Object.fromEntries(resumed.toolCalls.map(({ call_id: id, status }) => [id, status]))).toEqual({
        c3: 'completed',
        c1: 'denied',
        c2: 'completed',
      });
      expect(sentToModel().map((message) => (message as unknown as { tool_call_id: string }).tool_call_id)).toEqual([
        'c1',
        'c2',
        'c3',
      ]);
      expect(sentToModel()[0]).toMatchObject({ content: 'Tool execution denied by user. Reason: No response provided' });
    });

    it.each([['red'], [''], [0], [false], [null], [{ error: 'no colours left' }]])(
      'accepts the result of the client: %j',
      async (result) => {
        world.model.next([...say('Which? '), call('c1', 'pick_colour', {})], say('Nice.'));
        const paused = await ask(route, { client_tools: [CLIENT_TOOL] });
        expect(paused.pending).toMatchObject([{ tool_name: 'pick_colour', pause_type: 'requires_client_execution' }]);
        if (result === null) await world.service.restart();
        const resumed = await resume(route, paused, [{ call_id: 'c1', result }]);
        expect(resumed).toMatchObject({ status: 200, answer: 'Nice.' });
        const status = typeof result === 'object' && result ? 'error' : 'completed';
        const text = typeof result === 'string' ? result : JSON.stringify(result);
        expect(resumed.toolCalls).toMatchObject([{ call_id: 'c1', status, result: result === null ? null : text }]);
        expect(sentToModel()).toMatchObject([{ content: text }]);
      },
    );

    it('may be followed by another one after a resume, with different call ids', async () => {
      world.model.next(ASKING, [...say('And '), call('c1', 'tear_card', { text: 'x' })], say('both.'));
      const first = await ask(route);
      const second = await resume(route, first, [{ call_id: 'c1', decision: 'approved' }]);
      expect(second.pending).toMatchObject([{ action_name: 'tear_card' }]);
      expect(second.pending[0]!.call_id).not.toBe('c1');
      expect(await resume(route, first, [{ call_id: 'c1', decision: 'approved' }])).toMatchObject({
        status: 409,
        code: 'tool_call_not_pending',
      });
      const third = await resume(route, second, [{ call_id: second.pending[0]!.call_id, decision: 'approved' }]);
      expect(third).toMatchObject({ answer: 'both.', pending: [] });
      expect(sent()).toEqual(['/send_card', '/tear_card']);
      expect((await stored(first))[0]).toMatchObject({ response: 'Let me see. And both.' });
    });

    it('ends when the conversation continues: its calls are not run, and its text remains', async () => {
      world.model.next(ASKING, say('Something else.'));
      const paused = await ask(route);
      await world.service.restart();
      const next = await ask(route, { question: 'What else?', conversation_id: paused.conversationId });
      expect(next).toMatchObject({ status: 200, answer: 'Something else.' });
      expect(await resume(route, paused, [{ call_id: 'c1', decision: 'approved' }])).toMatchObject({
        status: 409,
        code: 'tool_call_not_pending',
      });
      expect(sent()).toEqual([]);
      const [query] = await stored(paused);
      expect(query).toMatchObject({ response: 'Let me see. ', status: 'complete' });
      expect(query!.tool_calls).toMatchObject([{ call_id: 'c1', status: 'denied', not_run: 'moved_on' }]);
      const journal = await wholeJournal(query!['message_id'] as string);
      expect(outlineOf(journal).slice(-6)).toEqual(['message_id', 'tool_call denied', 'source', 'tool_calls', 'id', 'end']);
    });

    it('expires, even while the service is down', async () => {
      await world.service.restart({ APPROVAL_TTL_SECONDS: '1' });
      world.model.next(ASKING);
      const paused = await ask(route);
      await world.service.restart();
      await eventually(async () => {
        const [query] = await stored(paused);
        expect(query).toMatchObject({ response: 'Let me see. ', status: 'complete' });
        expect(query!.tool_calls).toMatchObject([{ call_id: 'c1', status: 'denied', not_run: 'expired' }]);
        return true;
      });
      expect(await resume(route, paused, [{ call_id: 'c1', decision: 'approved' }])).toMatchObject({
        status: 409,
        code: 'tool_call_not_pending',
      });
      expect(sent()).toEqual([]);
      const journal = await wholeJournal((await stored(paused))[0]!['message_id'] as string);
      if (route === '/stream') expect(journal.startsWith(paused.records)).toBe(true);
    });
  });

  describe('a resume', () => {
    it('is refused when it is invalid, and leaves the pause unchanged', async () => {
      world.model.next(ASKING, say('Done.'));
      const paused = await ask('/stream');
      const refusals: readonly (readonly [object[], number])[] = [
        [['c1'] as never, 400],
        [[{ decision: 'approved' }], 400],
        [[{ call_id: 'c1' }], 400],
        [[{ call_id: 'c1', decision: 'perhaps' }], 400],
        [[{ call_id: 'c1', decision: 'denied', comment: 7 }], 400],
        [[{ call_id: 'c1', result: 'made up' }], 400],
        [
          [
            { call_id: 'c1', decision: 'approved' },
            { call_id: 'c1', decision: 'denied' },
          ],
          400,
        ],
        [[{ call_id: 'c9', decision: 'approved' }], 409],
        [
          [
            { call_id: 'c1', decision: 'approved' },
            { call_id: 'c9', decision: 'approved' },
          ],
          409,
        ],
      ];
      for (const route of ROUTES) {
        for (const [actions, status] of refusals) {
          expect([actions, (await resume(route, paused, actions)).status]).toEqual([actions, status]);
        }
        expect((await askOver(route, world.alice, { tool_actions: [{ call_id: 'c1', decision: 'approved' }] })).status).toBe(400);
        expect((await resume(route, paused, [{ call_id: 'c1', decision: 'approved' }], world.bob)).status).toBe(404);
        const stranger = { ...paused, conversationId: '00000000-0000-4000-8000-000000000000' };
        expect((await resume(route, stranger, [{ call_id: 'c1', decision: 'approved' }])).status).toBe(404);
      }
      expect(sent()).toEqual([]);
      expect(await resume('/stream', paused, [{ call_id: 'c1', decision: 'approved' }])).toMatchObject({ status: 200 });
    });

    it('of a question with a key requires that agent’s key or the owner, and of an owner’s question the owner', async () => {
      const other = await world.agent({ tools: [toolId] });
      world.model.next(ASKING);
      const paused = await ask('/stream');
      const approve = { conversation_id: paused.conversationId, tool_actions: [{ call_id: 'c1', decision: 'approved' }] };
      for (const { key } of [agent, other]) {
        expect((await askOver('/stream', world.nobody, { ...approve, api_key: key })).status).toBe(404);
      }
      expect(sent()).toEqual([]);

      world.model.next([call('c1', 'pick_colour', {})], say('Nice.'));
      const asked = { question: 'Colour?', api_key: agent.key, client_tools: [CLIENT_TOOL] };
      const byKey = await askOver('/stream', world.nobody, asked);
      const answer = { conversation_id: byKey.conversationId, tool_actions: [{ call_id: 'c1', result: 'red' }] };
      expect((await askOver('/stream', world.nobody, { ...answer, api_key: other.key })).status).toBe(404);
      expect(await askOver('/api/answer', world.nobody, { ...answer, api_key: agent.key })).toMatchObject({ answer: 'Nice.' });
    });

    it('is repeated with its key without a second decision', async () => {
      world.model.next(ASKING, say('Done.'));
      const paused = await ask('/stream');
      const body = { conversation_id: paused.conversationId, tool_actions: [{ call_id: 'c1', decision: 'approved' }] };
      const headers = { 'idempotency-key': `approve ${paused.conversationId}` };
      const first = await askOver('/stream', world.alice, body, headers);
      const again = await askOver('/stream', world.alice, body, headers);
      expect([again.records, again.status]).toEqual([first.records, 200]);
      expect(sent()).toEqual(['/send_card']);
    });

    it('succeeds for one of fifty: the others are refused, and the tool is called once', async () => {
      world.model.next(ASKING, say('Done.'));
      const paused = await ask('/stream');
      const decisions = [{ decision: 'approved' }, { decision: 'denied', comment: 'no' }];
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          resume(ROUTES[index % 2]!, paused, [{ call_id: 'c1', ...decisions[(index % 3) % 2]! }]),
        ),
      );
      const winners = all.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      const lost = all.filter(({ status }) => status === 409).map(({ code }) => code);
      expect(lost).toHaveLength(49);
      expect(new Set(lost)).toEqual(expect.objectContaining({}));
      for (const code of lost) expect(['resume_in_progress', 'tool_call_not_pending']).toContain(code);
      const decisionsOf = async () => {
        const audited = `/api/audit/events?stream=conversation-${paused.conversationId}&limit=200`;
        const { events } = await world.alice.json<{ events: { type: string }[] }>(audited);
        return events.filter(({ type }) => type === 'ToolCallApproved' || type === 'ToolCallDenied');
      };
      // Other readers of the log see it a moment later.
      await eventually(async () => (await decisionsOf()).length > 0);
      const decided = await decisionsOf();
      expect(decided).toHaveLength(1);
      expect(sent()).toEqual(decided[0]!.type === 'ToolCallApproved' ? ['/send_card'] : []);
    });

    it('runs the call that was shown, even if the tool and the agent have changed', async () => {
      world.model.next(ASKING, say('Done.'));
      const paused = await ask('/stream');
      const elsewhere = { actions: { send_card: action('elsewhere', 'POST', { name: 'send_card', require_approval: true }) } };
      await world.alice.post('/api/update_tool_config', { id: toolId, config: elsewhere });
      await world.alice.post('/api/update_agent', { tools: [] });
      const resumed = await resume('/stream', paused, [{ call_id: 'c1', decision: 'approved' }]);
      expect(resumed.toolCalls).toMatchObject([{ arguments: { text: 'hello' }, status: 'completed' }]);
      expect(post.requests).toMatchObject([{ path: '/send_card', body: '{"text":"hello"}' }]);
      await world.alice.post('/api/update_tool_config', { id: toolId, config: cardConfig() });
    });
  });

  it('the list marks conversations that wait for a decision', async () => {
    const marks = async () =>
      (await world.alice.json<unknown[]>('/api/get_conversations')) as { id: string; mark: string | null }[];
    const markOf = async ({ conversationId }: Asked) => (await marks()).find(({ id }) => id === conversationId)?.mark;
    world.model.next(ASKING, say('Done.'));
    const paused = await ask('/stream');
    await eventually(async () => (await markOf(paused)) === 'approval');
    await resume('/stream', paused, [{ call_id: 'c1', decision: 'denied' }]);
    expect(await markOf(paused)).toBeNull();
  });
}
