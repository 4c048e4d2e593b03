import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { type Client, conversationIdIn, messageIdIn } from '../support/client.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

const BODY_BYTES_MAX = 200_000;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

type Case = Readonly<{
  name: string;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  as?: 'alice' | 'bob' | 'nobody';
  status: number;
  /** The expected message. */
  says: RegExp;
  code?: string;
  /** The only route to which the case applies. */
  only?: '/stream' | '/api/answer';
  /** Whether the refusal is JSON on `/stream` too, because it is about the request itself. Every 400 is, if this is left out. */
  json?: boolean;
}>;

/** The refusals of questions on both answering routes. A refused question has no effect. */
export function refusalsStory(makeBacking: MakeBacking): void {
  let world: World;
  const made: Record<'foreign' | 'deleted' | 'ofAgent' | 'foreignAgent' | 'key' | 'otherKey' | 'own', string> = {
    foreign: '',
    deleted: '',
    ofAgent: '',
    foreignAgent: '',
    key: '',
    otherKey: '',
    own: '',
  };
  beforeAll(async () => {
    world = await openWorld({ BODY_MAX_BYTES: String(BODY_BYTES_MAX) }, makeBacking);
    const { alice, bob, agent } = world;
    const asked = async (client: Client, more: object = {}) =>
      conversationIdIn(await client.stream({ question: 'Why?', ...more }));
    const [first, second] = [await agent(), await agent()];
    made.key = first.key;
    made.otherKey = second.key;
    made.foreignAgent = (await agent({}, bob)).id;
    made.own = await asked(alice);
    made.foreign = await asked(bob);
    made.deleted = await asked(alice);
    made.ofAgent = await asked(alice, { api_key: first.key });
    await alice.post(`/api/delete_conversation?id=${made.deleted}`, {});
  });
  afterAll(() => world.close());

  const question = 'Why is the sky blue?';
  const wrong = (field: string, value: unknown, more: Partial<Case> = {}): Case => ({
    name: `${field}: ${JSON.stringify(value)}`,
    body: { question, [field]: value },
    status: 400,
    says: new RegExp(field),
    ...more,
  });

  const cases: readonly Case[] = [
    { name: 'malformed JSON', body: '{"question":', status: 400, says: /not valid JSON/ },
    { name: 'a null body', body: 'null', status: 400, says: /must not be null/ },
    { name: 'an array', body: [question], status: 400, says: /must be a JSON object/ },
    { name: 'a string', body: '"why"', status: 400, says: /must be a JSON object/ },
    { name: 'a prototype', body: '{"__proto__":{"a":1},"question":"x"}', status: 400, says: /not allowed/ },
    { name: 'a body nested too deep', body: `{"passthrough":${'['.repeat(500)}${']'.repeat(500)}}`, status: 400, says: /nested/ },
    { name: 'no body', body: '', status: 400, says: /question/ },
    { name: 'nothing', body: {}, status: 400, says: /Missing required fields: question/ },
    wrong('question', ''),
    wrong('question', '  \n '),
    wrong('question', null),
    wrong('question', 7),
    wrong('question', ['why']),
    wrong('question', 'x'.repeat(140_000)),
    wrong('history', 'not json'),
    wrong('history', '{"prompt":"a","response":"b"}'),
    wrong('history', 5),
    wrong('history', ['a']),
    wrong('history', '[{"prompt":1,"response":"b"}]'),
    {
      name: 'an unknown model',
      body: { question, model_id: 'no-such-model' },
      status: 400,
      says: /^model_id names no model/,
      json: false,
    },
    wrong('model_id', 5),
    wrong('api_key', 5),
    wrong('agent_id', {}),
    wrong('conversation_id', 5),
    wrong('passthrough', 'x'),
    wrong('passthrough', [1]),
    wrong('prompt_id', 5),
    wrong('active_docs', 5),
    wrong('active_docs', ['a', 5]),
    wrong('retriever', true),
    wrong('chunks', 'six', { says: /^chunks must be a number$/ }),
    wrong('chunks', {}),
    wrong('isNoneDoc', 'yes'),
    wrong('tool_actions', 'approved'),
    wrong('attachments', 'a1', { only: '/stream' }),
    wrong('attachments', [1], { only: '/stream' }),
    wrong('index', 'first', { only: '/stream' }),
    wrong('index', -1, { only: '/stream' }),
    wrong('index', 0.5, { only: '/stream' }),
    {
      name: 'index alone',
      body: { question, index: 0 },
      status: 400,
      says: /Missing required fields: conversation_id/,
      only: '/stream',
    },
    {
      name: 'tool_actions with a question',
      body: { question, conversation_id: UNKNOWN, tool_actions: [{ call_id: 'c', decision: 'approved' }] },
      status: 400,
      says: /question and tool_actions cannot be sent together/,
    },
    wrong('conversation_id', 'a\0b'),
    wrong('agent_id', 'a\ud800'),
    { name: 'tool_actions alone', body: { tool_actions: [{ call_id: 'c' }] }, status: 400, says: /conversation_id/ },

    { name: 'no credential', as: 'nobody', body: { question }, status: 401, says: /Unauthorized/ },
    { name: 'an unknown key', as: 'nobody', body: { question, api_key: UNKNOWN }, status: 401, says: /Invalid API key/ },
    {
      name: 'an endless key',
      as: 'nobody',
      body: { question, api_key: 'k'.repeat(5_000) },
      status: 401,
      says: /Invalid API key/,
    },
    {
      name: 'no credential for what is not there',
      as: 'nobody',
      body: { question, conversation_id: UNKNOWN },
      status: 401,
      says: /Unauthorized/,
    },
    {
      name: 'a bad bearer',
      headers: { authorization: 'Bearer nonsense' },
      body: { question },
      status: 401,
      says: /token/i,
      code: 'invalid_token',
      json: true,
    },
    {
      name: 'a bad bearer before a malformed body',
      headers: { authorization: 'Bearer nonsense' },
      body: '{',
      status: 401,
      says: /token/i,
      code: 'invalid_token',
      json: true,
    },

    { name: 'a text', headers: { 'content-type': 'text/plain' }, body: 'why?', status: 415, says: /JSON/ },
    {
      name: 'a form',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'question=why',
      status: 415,
      says: /JSON/,
    },
    { name: 'a body too large', body: { question, passthrough: { x: 'x'.repeat(BODY_BYTES_MAX) } }, status: 413, says: /large/ },
    {
      name: 'an Idempotency-Key too long',
      headers: { 'idempotency-key': 'k'.repeat(257) },
      body: { question },
      status: 400,
      says: /Idempotency-Key/,
    },
  ];

  const rows = cases.flatMap((each) =>
    (['/stream', '/api/answer'] as const)
      .filter((route) => (each.only ?? route) === route)
      .map((route) => ({ ...each, route, title: `${route} refuses ${each.name.slice(0, 60)} with ${each.status}` })),
  );

  it.each(rows)('$title', async ({ route, body, headers, as = 'alice', status, says, code, json }) => {
    const before = await world.quietHead();
    const reply = await replyOf(world[as].post(route, body, headers));
    expect(reply.status).toBe(status);
    expectRefusal(reply, route, says, code, json);
    expect(await world.quietHead()).toBe(before);
  });

  describe.each(['/stream', '/api/answer'] as const)('%s', (route) => {
    const ask = (body: object, client: Client = world.alice) => replyOf(client.post(route, body));

    it('does not distinguish an unknown conversation from a foreign, a deleted one, or one of another agent', async () => {
      const before = await world.quietHead();
      const { alice, nobody } = world;
      const replies = [
        await ask({ question, conversation_id: UNKNOWN }),
        await ask({ question, conversation_id: 'not-an-id' }),
        await ask({ question, conversation_id: made.foreign }),
        await ask({ question, conversation_id: made.deleted }),
        await ask({ question, conversation_id: made.ofAgent, api_key: made.otherKey }, nobody),
        await ask({ question, conversation_id: made.own, api_key: made.key }, alice),
        await ask({ question, conversation_id: made.foreign, api_key: made.key }, nobody),
      ];
      for (const reply of replies) {
        expect(reply.status).toBe(404);
        expectRefusal(reply, route, /^Conversation not found$/);
      }
      expect(await world.quietHead()).toBe(before);
    });

    it('does not distinguish an unknown agent from a foreign one', async () => {
      for (const agent_id of [UNKNOWN, 'not-an-id', made.foreignAgent]) {
        const reply = await ask({ question, agent_id });
        expect(reply.status).toBe(404);
        expectRefusal(reply, route, /^Agent not found$/);
      }
    });

    it('does not distinguish an unknown prompt from a foreign one', async () => {
      const foreign = await replyOf(world.bob.post('/api/create_prompt', { name: 'Pirate', content: 'Arr.' }));
      for (const prompt_id of [UNKNOWN, 'not-an-id', (foreign.body as { id: string }).id]) {
        const reply = await ask({ question, prompt_id });
        expect(reply.status).toBe(404);
        expectRefusal(reply, route, /^Prompt not found$/);
      }
    });

    it('refuses a decision if nothing is pending', async () => {
      const reply = await ask({ conversation_id: made.own, tool_actions: [{ call_id: 'c1', decision: 'approved' }] });
      expect(reply.status).toBe(409);
      expectRefusal(reply, route, /no longer pending/, 'tool_call_not_pending');
    });

    it('reports that a bearer has expired', async () => {
      const late = await world.as('alice', { expiresInSeconds: -10 });
      const reply = await ask({ question, api_key: made.key }, late);
      expect(reply.status).toBe(401);
      expectRefusal(reply, route, /expired/, 'token_expired', true);
    });
  });

  it('/stream refuses an index past the end of a conversation', async () => {
    const reply = await replyOf(world.alice.post('/stream', { question, conversation_id: made.own, index: 5 }));
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ success: false, message: 'index must be at most 1, the number of questions so far.' });
  });

  it('a failed answer is 400 on /api/answer, and an error in the stream on /stream', async () => {
    world.model.next([{ do: 'refuse', status: 400, body: { error: { message: 'too much context: secret-host' } } }]);
    const reply = await replyOf(world.alice.post('/api/answer', { question }));
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error: expect.any(String), code: 'not_accepted' });
    world.model.next([{ do: 'refuse', status: 400, body: { error: { message: 'too much context: secret-host' } } }]);
    const { status, frames } = await world.alice.stream({ question });
    const { key } = await world.agent({ json_schema: { type: 'object' } });
    const misfit = await replyOf(world.nobody.post('/api/answer', { question, api_key: key }));
    expect(misfit.body).toEqual({ error: expect.any(String), code: 'invalid_structured_answer' });
    expect(status).toBe(200);
    expect(frames.map(({ data }) => data.type)).toEqual(['message_id', 'error', 'id', 'end']);
    expect([reply.text, JSON.stringify(frames)].join()).not.toContain('secret-host');
  });

  it('other routes refuse in one format', async () => {
    const { nobody, alice } = world;
    const id = messageIdIn(await alice.stream({ question }));
    const table: readonly [Promise<Response>, number, object][] = [
      [nobody.get('/api/no-such-path'), 404, { success: false, message: 'Not found' }],
      [nobody.get('/no/such/path.html'), 404, { success: false, message: 'Not found' }],
      [nobody.post('/api/no-such-path', {}), 404, { success: false, message: 'Not found' }],
      [nobody.get('/stream'), 405, { success: false, message: 'GET is not allowed here, only POST.' }],
      [nobody.get('/api/get_conversations'), 401, { success: false, message: 'Unauthorized' }],
      [nobody.get(`/api/messages/${id}/events`), 401, { success: false, message: 'Unauthorized' }],
      [alice.get(`/api/messages/${UNKNOWN}/events`), 404, { success: false, message: 'Not found' }],
      [alice.get('/api/get_single_conversation'), 400, { success: false, message: 'ID is required' }],
      [alice.get(`/api/get_single_conversation?id=${made.foreign}`), 404, { success: false, message: 'Conversation not found' }],
    ];
    for (const [response, status, body] of table) {
      const reply = await replyOf(response);
      expect({ status: reply.status, body: reply.body }).toEqual({ status, body });
    }
  });

  it('pages of other origins may read responses, including the headers', async () => {
    const preflight = await fetch(`${world.service.url}/stream`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization,last-event-id,idempotency-key,x-api-key',
      },
    });
    expect(preflight.status).toBe(204);
    const allowed = preflight.headers.get('access-control-allow-headers')!.toLowerCase();
    for (const name of ['authorization', 'content-type', 'last-event-id', 'idempotency-key', 'x-api-key'])
      expect(allowed).toContain(name);
    const { headers } = await world.alice.stream({ question }, undefined, { origin: 'https://shop.example' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('Idempotent-Replayed');
  });
}

/**
 * Expects a refusal in the format of its route. On `/stream` it is JSON if it is about the request itself, else a frame without
 * an id.
 */
function expectRefusal(
  reply: Reply,
  route: '/stream' | '/api/answer',
  says: RegExp,
  code?: string,
  isJson = reply.status === 400,
): void {
  if (route === '/api/answer') {
    expect(reply.body).toEqual({ error: expect.stringMatching(says), ...(code && { code }) });
  } else if (isJson) {
    expect(reply.body).toEqual({ success: false, message: expect.stringMatching(says), ...(code && { error: code }) });
  } else {
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const frame = /^data: (.*)\n\n$/.exec(reply.text)?.[1];
    expect(JSON.parse(frame!)).toEqual({ type: 'error', error: expect.stringMatching(says), ...(code && { code }) });
  }
}
