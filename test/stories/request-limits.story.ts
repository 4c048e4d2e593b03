import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { openWorld, type World } from '../support/world.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const ids = (count: number) => Array.from({ length: count }, (_, at) => `${String(at).padStart(8, '0')}${UNKNOWN.slice(8)}`);
const texts = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);
const model = (more: object) => ({
  upstream_model_id: 'm',
  display_name: 'M',
  base_url: 'https://models.example/v1',
  api_key: 'key',
  ...more,
});
const query = (path: string, name: string) => (client: Client, n: number | string) => client.get(`${path}?${name}=${n}`);

type Limited = readonly [
  what: string,
  max: number,
  /** Sends a request with this number of characters, entries, or whatever is limited. */
  send: (client: Client, n: number) => Promise<Response>,
  says: RegExp,
];

/** The maximum of each field, as a number of its own, so that a change of the limit is noticed. */
const LIMITED: readonly Limited[] = [
  [
    'characters of feedback',
    2_000,
    (client, n) => client.post('/api/feedback', { feedback: 'x'.repeat(n), conversation_id: UNKNOWN, question_index: 0 }),
    /feedback must be shorter than or equal to 2000 characters/,
  ],
  [
    'characters of the name of a prompt',
    200,
    (client, n) => client.post('/api/create_prompt', { name: 'x'.repeat(n), content: 'Be brief.' }),
    /name must be shorter than or equal to 200 characters/,
  ],
  [
    'tools of an agent',
    200,
    (client, n) => client.post('/api/create_agent', { name: 'A', status: 'draft', tools: ids(n) }),
    /tools must hold at most 200 entries/,
  ],
  [
    'attachments of a question',
    25,
    (client, n) => client.post('/stream', { question: 'Why?', attachments: ids(n) }),
    /attachments must be at most 25/,
  ],
  [
    'characters of the key of a custom model',
    4_000,
    (client, n) => client.post('/api/user/models', model({ api_key: 'k'.repeat(n) })),
    /api_key must be shorter than or equal to 4000 characters/,
  ],
  [
    'kinds of attachments of a custom model',
    50,
    (client, n) => client.post('/api/user/models', model({ capabilities: { attachments: texts(n).map((t) => `image/${t}`) } })),
    /must hold at most 50 entries/,
  ],
  [
    'tokens of the context window of a custom model',
    10_000_000,
    (client, n) => client.post('/api/user/models', model({ capabilities: { context_window: n } })),
    /must be between 1000 and 10000000/,
  ],
  [
    'nodes of a workflow',
    200,
    (client, n) => client.post('/api/workflows', { name: 'W', nodes: texts(n).map((id) => ({ id })), edges: [] }),
    /Too many workflow nodes \(max 200\)/,
  ],
  [
    'edges of a workflow',
    400,
    (client, n) => client.post('/api/workflows', { name: 'W', nodes: [], edges: texts(n).map((id) => ({ id })) }),
    /Too many workflow edges \(max 400\)/,
  ],
  [
    'characters of the location of documents',
    2_000,
    (client, n) => client.post('/api/docs_check', { docs: 'x'.repeat(n) }),
    /docs must be shorter than or equal to 2000 characters/,
  ],
  [
    'characters of the id of an agent in analytics',
    200,
    (client, n) => client.post('/api/get_message_analytics', { api_key_id: 'x'.repeat(n) }),
    /api_key_id must be shorter than or equal to 200 characters/,
  ],
  [
    'characters of a reference of a trace',
    200,
    (client, n) => query('/api/traces', 'request_id')(client, 'x'.repeat(n)),
    /request_id must be an id/,
  ],
  ['events on a page of the audit', 1_000, query('/api/audit/events', 'limit'), /limit must not be greater than 1000/],
  ['decisions of guardrails on a page', 500, query('/api/guardrails/events', 'limit'), /limit must not be greater than 500/],
  ['days of a summary of guardrails', 365, query('/api/guardrails/summary', 'days'), /days must not be greater than 365/],
];

/** What a client may send at most in the fields of requests. */
export function requestLimitsStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => void (world = await openWorld({}, makeBacking)));
  afterAll(() => world.close());

  it.each(LIMITED)('%s: %i are accepted, and one more is refused', async (_, max, send, says) => {
    const most = await send(world.alice, max);
    expect(await most.text()).not.toMatch(says);
    const more = await send(world.alice, max + 1);
    expect([more.status, await more.text()]).toEqual([400, expect.stringMatching(says)]);
  });
}
