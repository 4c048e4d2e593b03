import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { formOf, send } from '../support/attachments.js';
import type { MakeBacking } from '../support/backing.js';
import { type Client, conversationIdIn, messageIdIn } from '../support/client.js';
import { textFile } from '../support/document-files.js';
import { routesThatTakeKeys } from '../support/key-routes.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

const SHOP = 'https://shop.example';
const ELSEWHERE = 'https://elsewhere.example';
/** MCP reports errors of a call as its result, which the story of MCP tests. */
const TELLS_IN_RESULTS = 'POST /mcp';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const question = 'Why?';

/** One way to send a key to a route. */
type Use = (client: Client, key: string, headers: Readonly<Record<string, string>>) => Promise<Reply>;

/** The routes that accept agent keys apply the same rules to them. */
export function agentKeysStory(makeBacking: MakeBacking): void {
  let world: World;
  let key: string;
  let draftKey: string;
  let conversation_id: string;
  let messageId: string;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    key = (await world.agent({ config: { restrict_origins: true, allowed_origins: [SHOP] } })).key;
    const draft = await world.agent();
    draftKey = draft.key;
    await world.alice.put(`/api/update_agent/${draft.id}`, { status: 'draft' });
    const asked = await world.nobody.stream({ question, api_key: key });
    conversation_id = conversationIdIn(asked);
    messageId = messageIdIn(asked);
  });
  afterAll(() => world.close());

  const posting =
    (path: string, body: () => object): Use =>
    (client, api_key, headers) =>
      replyOf(client.post(path, { ...body(), api_key }, headers));
  const ofMessage =
    (reading: string): Use =>
    (client, api_key, headers) => {
      const path = `/api/messages/${messageId}/${reading}?api_key=${api_key}`;
      return replyOf(reading === 'cancel' ? client.post(path, {}, headers) : client.get(path, headers));
    };
  /** A request for a missing artifact. */
  const ofArtifact =
    (method: 'GET' | 'POST' | 'DELETE', more = `/${UNKNOWN}`): Use =>
    (client, api_key, headers) => {
      const path = `/api/artifacts${more}?conversation_id=${conversation_id}`;
      const body = method === 'POST' ? { body: JSON.stringify({ version: 1 }) } : {};
      const json = { 'content-type': 'application/json', ...headers, 'x-api-key': api_key };
      return replyOf(
        client.request(path, { method, headers: method === 'POST' ? json : { ...headers, 'x-api-key': api_key }, ...body }),
      );
    };
  /** A request for a missing response, or for none by default. */
  const ofResponse =
    (method: 'GET' | 'POST' | 'DELETE', more = `/resp_${UNKNOWN}`): Use =>
    (client, agentKey, headers) => {
      const sent = {
        ...headers,
        authorization: `Bearer ${agentKey}`,
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      };
      const body = method === 'POST' ? { body: JSON.stringify({ input: question }) } : {};
      return replyOf(client.request(`/v1/responses${more}`, { method, headers: sent, ...body }));
    };
  const form = (fields = {}) => formOf([textFile('a.txt', 'Tea.')], fields);
  const decision = () => ({ conversation_id, tool_actions: [{ call_id: 'c1', decision: 'approved' }] });
  const continued = () => ({ question, conversation_id });

  /** Every route that accepts a key, in every way it is used. */
  const ROUTES: Readonly<Record<string, Readonly<Record<string, Use>>>> = {
    'POST /stream': {
      'a question': posting('/stream', () => ({ question })),
      'a question in a conversation': posting('/stream', continued),
      'an edit': posting('/stream', () => ({ ...continued(), index: 0 })),
      'a decision': posting('/stream', decision),
    },
    'POST /api/answer': {
      'a question': posting('/api/answer', () => ({ question })),
      'a question in a conversation': posting('/api/answer', continued),
      'a decision': posting('/api/answer', decision),
    },
    'POST /api/search': {
      'the key in the body': posting('/api/search', () => ({ question })),
      'the key in a header': (client, api_key, headers) =>
        replyOf(client.post('/api/search', { question }, { ...headers, 'x-api-key': api_key })),
    },
    'POST /v1/chat/completions': {
      'the key as bearer': (client, key, headers) => {
        const body = { messages: [{ role: 'user', content: question }] };
        return replyOf(client.post('/v1/chat/completions', body, { ...headers, authorization: `Bearer ${key}` }));
      },
    },
    'GET /v1/models': {
      'the key as bearer': (client, key, headers) =>
        replyOf(client.get('/v1/models', { ...headers, authorization: `Bearer ${key}` })),
    },
    'GET /v1/models/:model': {
      'the key as bearer': (client, key, headers) =>
        replyOf(client.get(`/v1/models/${UNKNOWN}`, { ...headers, authorization: `Bearer ${key}` })),
    },
    'POST /v1/responses': { 'the key as bearer': ofResponse('POST', '') },
    'GET /v1/responses/:responseId': { 'a reader': ofResponse('GET') },
    'GET /v1/responses/:responseId/input_items': { 'a reader': ofResponse('GET', `/resp_${UNKNOWN}/input_items`) },
    'POST /v1/responses/:responseId/cancel': { 'a writer': ofResponse('POST', `/resp_${UNKNOWN}/cancel`) },
    'DELETE /v1/responses/:responseId': { 'a writer': ofResponse('DELETE') },
    'POST /api/feedback': {
      'a rating': posting('/api/feedback', () => ({ conversation_id, question_index: 0, feedback: 'like' })),
    },
    'POST /api/store_attachment': {
      'the key among the files': (client, api_key, headers) => send(client, form({ api_key }), headers),
      'the key in the query': (client, api_key, headers) => send(client, form(), headers, `?api_key=${api_key}`),
      'the key in a header': (client, api_key, headers) => send(client, form(), { ...headers, 'x-api-key': api_key }),
    },
    'GET /api/messages/:messageId/events': { 'a reader': ofMessage('events') },
    'GET /api/messages/:messageId/tail': { 'a reader': ofMessage('tail') },
    'GET /api/messages/:messageId/digest': { 'a reader': ofMessage('digest') },
    'POST /api/messages/:messageId/cancel': { 'a reader': ofMessage('cancel') },
    'GET /api/artifacts': { 'a list': ofArtifact('GET', '') },
    'GET /api/artifacts/:id': { 'a reader': ofArtifact('GET') },
    'GET /api/artifacts/:id/versions/:version': { 'a reader': ofArtifact('GET', `/${UNKNOWN}/versions/1`) },
    'GET /api/artifacts/:id/download': { 'a reader': ofArtifact('GET', `/${UNKNOWN}/download`) },
    'POST /api/artifacts/:id/restore': { 'a writer': ofArtifact('POST', `/${UNKNOWN}/restore`) },
    'DELETE /api/artifacts/:id': { 'a writer': ofArtifact('DELETE') },
  };
  const uses = Object.entries(ROUTES).flatMap(([route, ways]) => Object.entries(ways).map(([way, use]) => ({ route, way, use })));

  it('covers all routes that accept a key', () => {
    expect(Object.keys(ROUTES).sort()).toEqual(
      routesThatTakeKeys(world.service.service.app).filter((route) => route !== TELLS_IN_RESULTS),
    );
  });

  it.each(uses)('$route refuses an unknown key and that of a draft: $way', async ({ use }) => {
    for (const wrong of [UNKNOWN, draftKey]) {
      const reply = await use(world.nobody, wrong, {});
      expect([reply.status, reply.text]).toEqual([401, expect.stringContaining('Invalid API key')]);
    }
  });

  it.each(uses)('$route refuses pages of origins that the agent does not allow, even with a session: $way', async ({ use }) => {
    const before = await world.quietHead();
    for (const client of [world.nobody, world.alice]) {
      for (const origin of [ELSEWHERE, 'null', `${SHOP}.example`]) {
        const reply = await use(client, key, { origin });
        expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('This origin is not allowed')]);
      }
    }
    expect(await world.quietHead()).toBe(before);
  });

  it.each(uses)('$route admits pages of allowed origins, and callers without an origin: $way', async ({ route, use }) => {
    for (const headers of [{ origin: SHOP }, {}]) {
      // The request took effect or was refused for its state: no call waits for a decision, and the answer has ended.
      const { status } = await use(world.nobody, key, headers);
      expect(/:(id|responseId|model)\b/.test(route) ? [404] : [200, 202, 409]).toContain(status);
    }
  });
}
