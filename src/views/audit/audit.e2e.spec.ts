import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, conversationIdIn, messageIdIn } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { TurnLog } from '../../../test/support/turn-log.js';
import type { TurnAsked } from '../../dialogue/conversation/conversation.events.js';
import { SessionTokens } from '../../resources/identity/session-tokens.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { userIdOf } from '../../../test/support/user-id.js';

type Event = Readonly<{ position: string; id: string; stream: string; type: string; at: string; actor: string; correlation_id: string; data: Record<string, unknown> }>; // oxfmt-ignore
type Page = Readonly<{ success: true; events: Event[]; next: string | null }>;
type Node = Readonly<{ id: string; type: string; journal?: { frames: number; last_id: number; sha256: string }; caused: Node[] }>;
type Trace = Readonly<{ success: true; correlation_id: string; events: number; truncated: boolean; caused: Node[] }>;

let service: TestService;
let ann: Client;
let bob: Client;
let admin: Client;
let messageId: string;
let clientOf: (userId: string, roles?: ('user' | 'admin')[]) => Promise<Client>;

beforeAll(async () => {
  service = await serviceForTests({ AUTH_TYPE: 'session_jwt' });
  const tokens = service.service.app.get(SessionTokens, { strict: false });
  clientOf = async (userId: string, roles: ('user' | 'admin')[] = []) =>
    new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: userId, roles })}` });
  [ann, bob, admin] = [await clientOf('ann'), await clientOf('bob'), await clientOf('root', ['admin'])];
  messageId = messageIdIn(await ann.stream({ question: 'What is kept?' }));
  await bob.stream({ question: 'And mine?' });
  await ann.get(`/api/messages/${messageId}/events`).then((response) => response.text());
  // The seal is written after the last frame that the client waits for. After it, no more events are added.
  const log = new TurnLog(service.backing.store);
  await eventually(async () => (await log.refresh()).unsealed.length === 0);
  const { app } = service.service;
  await app.get(Freshness, { strict: false }).reached(['audit-log'], await app.get(EventStore, { strict: false }).head());
});
afterAll(() => service.close());

const actorOf = async (subject: string) => `user:${await userIdOf(service, subject)}`;
const events = (client: Client, query = '') => client.json<Page>(`/api/audit/events${query}`);

async function sealedEvent(): Promise<Event> {
  const { events: found } = await events(admin, '?type=TurnSealed');
  return found.find(({ data }) => data['turnId'] === messageId)!;
}

describe('the audit', () => {
  it('shows users their own events, and admins the events of all users', async () => {
    const mine = (await events(ann)).events;
    expect(new Set(mine.map(({ actor }) => actor))).toEqual(new Set([await actorOf('ann')]));
    expect(mine.map(({ type }) => type)).toEqual(expect.arrayContaining(['ConversationStarted', 'TurnAsked']));
    const actors = new Set((await events(admin, '?limit=1000')).events.map(({ actor }) => actor));
    expect([...actors]).toEqual(expect.arrayContaining([await actorOf('ann'), await actorOf('bob')]));
    expect((await events(ann, `?actor=${await actorOf('bob')}`)).events).toEqual([]);
  });

  it('returns pages by position without gaps or repetitions', async () => {
    const whole = (await events(admin, '?limit=1000')).events.map(({ position }) => position);
    const paged: string[] = [];
    for (let next: string | null = '0'; next !== null;) {
      const page: Page = await events(admin, `?limit=2&after=${paged.at(-1) ?? '0'}`);
      paged.push(...page.events.map(({ position }) => position));
      next = page.next;
    }
    expect(paged).toEqual(whole.filter((position) => position !== '0'));
  });

  it('returns a line for every event if the client accepts NDJSON', async () => {
    const response = await admin.get('/api/audit/events?type=TurnAsked', { accept: 'application/x-ndjson' });
    expect(response.headers.get('content-type')).toContain('application/x-ndjson');
    const lines = (await response.text()).trimEnd().split('\n').map((line) => JSON.parse(line) as Event); // oxfmt-ignore
    expect(lines.map(({ data }) => data['question'])).toEqual(['What is kept?', 'And mine?']);
  });

  it('returns the events that were recorded from a time on and before a time', async () => {
    const [first, ...later] = (await events(ann, '?type=TurnAsked')).events;
    const times = [first!, ...later].map(({ at }) => at).toSorted();
    const countOf = async (query: string) => (await events(ann, `?type=TurnAsked&${query}`)).events.length;
    expect(await countOf(`from=${times[0]!}`)).toBe(times.length);
    expect(await countOf(`from=${times[0]!}&to=${times[0]!}`)).toBe(0);
    expect(await countOf(`to=${times[0]!}`)).toBe(0);
    expect(await countOf('from=9999-01-01')).toBe(0);
    expect(await countOf('from=1970-01-01&to=9999-01-01')).toBe(times.length);
  });

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?limit=x', 'limit'],
    ['?after=-1', 'after'],
    ['?from=yesterday', 'from'],
    ['?from=0000-01-01T00:00:00Z', 'from'],
    ['?to=0000-01-01T00:00:00Z', 'to'],
    ['?stream=a&stream=b', 'stream'],
  ])('refuses %s and names the field', async (query, field) => {
    const response = await ann.get(`/api/audit/events${query}`);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { message: string }).message).toContain(field);
  });

  it('traces a question from its request to the last frame, by the id of the request or of any event', async () => {
    const sealed = await sealedEvent();
    const trace = await ann.json<Trace>(`/api/audit/trace/${sealed.correlation_id}`);
    const flat = (nodes: readonly Node[]): Node[] => nodes.flatMap((node) => [node, ...flat(node.caused)]);
    const nodes = flat(trace.caused);
    expect(nodes.map(({ type }) => type)).toEqual(expect.arrayContaining(['ConversationStarted', 'TurnAsked', 'TurnStarted', 'TurnAnswered', 'TurnSealed'])); // oxfmt-ignore
    const digest = await ann.json(`/api/messages/${messageId}/digest`);
    const { journal } = nodes.find(({ type }) => type === 'TurnSealed')!;
    expect(journal).toMatchObject({ frames: digest['frames'], last_id: digest['last_id'], sha256: digest['sha256'] });
    expect(await ann.json(`/api/audit/trace/${sealed.id}`)).toEqual(trace);
    expect(await admin.json(`/api/audit/trace/${sealed.id}`)).toEqual(trace);
  });

  it('answers the same for another user’s trace as for a missing one', async () => {
    const { id } = await sealedEvent();
    const [foreign, unknown] = [await bob.get(`/api/audit/trace/${id}`), await bob.get('/api/audit/trace/nothing')];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(await foreign.text()).toBe(await unknown.text());
    expect((await new Client(service.url).get(`/api/audit/trace/${id}`)).status).toBe(401);
    expect((await new Client(service.url).get('/api/audit/events')).status).toBe(401);
  });

  it('shows only the owner of an agent what was done with its keys', async () => {
    const carol = await clientOf('carol');
    const agent = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: '', status: 'published' };
    const made = (await (await carol.post('/api/create_agent', agent)).json()) as { id: string; key: string };
    const caller = new Client(service.url);
    await caller.stream({ question: 'With the first key?', api_key: made.key });
    const { key } = (await (await carol.post(`/api/regenerate_agent_key/${made.id}`, {})).json()) as { key: string };
    await caller.stream({ question: 'With the second key?', api_key: key });
    const { app } = service.service;
    await app.get(Freshness, { strict: false }).reached(['audit-log'], await app.get(EventStore, { strict: false }).head());
    const asked = (await events(carol, '?type=TurnAsked')).events;
    expect(asked.map(({ data }) => data['question'])).toEqual(['With the first key?', 'With the second key?']);
    expect(asked.map(({ actor }) => actor)).toEqual([expect.stringMatching(/^agent-key:/), expect.stringMatching(/^agent-key:/)]);
    expect((await events(bob, `?actor=${asked[0]!.actor}`)).events).toEqual([]);
    const { id } = asked[0]!;
    expect((await carol.get(`/api/audit/trace/${id}`)).status).toBe(200);
    expect((await bob.get(`/api/audit/trace/${id}`)).status).toBe(404);
  });

  it('shows through which protocol a question with a key came', async () => {
    const dora = await clientOf('dora');
    const agent = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: '', status: 'published' };
    const { key } = (await (await dora.post('/api/create_agent', { ...agent, mcp_ask: true })).json()) as { key: string };
    const caller = new Client(service.url, { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream' });
    const ask = { method: 'tools/call', params: { name: 'ask', arguments: { question: 'Over MCP?' } } };
    await new Client(service.url).stream({ question: 'Over the own interface?', api_key: key });
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'docsgpt', messages: [{ role: 'user', content: 'Over chat completions?' }] }],
      ['/v1/responses', { model: 'docsgpt', input: 'Over responses?' }],
      ['/mcp', { jsonrpc: '2.0', id: 1, ...ask }],
    ] as const)
      expect((await caller.post(path, body)).status).toBe(200);
    const { app } = service.service;
    await app.get(Freshness, { strict: false }).reached(['audit-log'], await app.get(EventStore, { strict: false }).head());
    const asked = (await events(dora, '?type=TurnAsked')).events.map(({ data }) => data as TurnAsked['data']);
    expect(asked.map(({ question, settings }) => [question, settings.dialect?.name])).toEqual([
      ['Over the own interface?', undefined],
      ['Over chat completions?', 'openai-chat'],
      ['Over responses?', 'openai-responses'],
      ['Over MCP?', 'mcp'],
    ]);
  });

  it('shows the owner of a link what its readers asked, and nobody else', async () => {
    const conversationId = conversationIdIn(await ann.stream({ question: 'Shared?' }));
    const link = await ann.post('/api/share?isPromptable=true', { conversation_id: conversationId });
    const { identifier: token } = (await link.json()) as { identifier: string };
    await new Client(service.url).stream({ question: 'By a reader?', api_key: token });
    const { app } = service.service;
    await app.get(Freshness, { strict: false }).reached(['audit-log'], await app.get(EventStore, { strict: false }).head());
    const asked = (await events(ann, '?type=TurnAsked')).events.at(-1)!;
    expect([asked.actor, asked.data['question']]).toEqual([expect.stringMatching(/^link:/), 'By a reader?']);
    expect((await events(bob, `?actor=${asked.actor}`)).events).toEqual([]);
    expect((await ann.get(`/api/audit/trace/${asked.id}`)).status).toBe(200);
    expect((await bob.get(`/api/audit/trace/${asked.id}`)).status).toBe(404);
  });
});
