import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UNAUTHENTICATED_UPLOAD_BYTES_MAX } from '../../src/platform/http/bodies/upload-gate.js';
import { BRINGS_OWN_CREDENTIAL } from '../../src/resources/identity/identify-request.js';
import { tokenFor } from '../support/access-tokens.js';
import { formOf } from '../support/attachments.js';
import type { MakeBacking } from '../support/backing.js';
import { Client, messageIdIn } from '../support/client.js';
import { textFile } from '../support/document-files.js';
import { webhookPath } from '../support/webhooks.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

/** One attempt is restored after half a minute, which is longer than any test. */
const MAX = 2;
/** MCP reports errors of a call as its result. */
const TELLS_IN_RESULTS = '/mcp';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const question = 'Why?';
const REFUSED = { success: false, message: 'Too many wrong credentials', error: 'too_many_wrong_credentials' };
const REFUSED_TO_ANSWER = { error: REFUSED.message, code: REFUSED.error };

/** Sends a credential, from a client with a separate address. */
type Show = (client: Client) => Promise<Reply>;
type Door = Readonly<{ wrong: Show; right: Show; status: number }>;

/** Every way to send a credential: wrong ones are counted together, and right ones are always accepted. */
export function wrongCredentialsStory(makeBacking: MakeBacking): void {
  let world: World;
  let agentId: string;
  let key: string;
  let bearer: string;
  let accessToken: string;
  let messageId: string;
  let hook: string;
  beforeAll(async () => {
    const environment = { WRONG_CREDENTIALS_MAX_PER_MINUTE: String(MAX), TRUSTED_PROXIES: 'loopback' };
    world = await openWorld({ ...environment, GENERATED_TOKENS_MAX_PER_HOUR: '2' }, makeBacking);
    const agent = await world.agent();
    ({ id: agentId, key } = agent);
    hook = await webhookPath(world.alice, agent.id);
    const { token } = await world.nobody.json<{ token: string }>('/api/generate_token');
    bearer = `Bearer ${token}`;
    accessToken = `Bearer ${(await tokenFor(world, { scopes: ['prompts:read'] })).token}`;
    messageId = messageIdIn(await world.nobody.stream({ question, api_key: key }));
  });
  afterAll(() => world.close());

  let clients = 0;
  const newClient = () => new Client(world.service.url, { 'x-forwarded-for': `203.0.113.${++clients}` });

  const shows = (show: (client: Client, credential: string) => Promise<Response>, wrong: string, right: () => string) => ({
    wrong: (client: Client) => replyOf(show(client, wrong)),
    right: (client: Client) => replyOf(show(client, right())),
    status: 401,
  });
  const byKey = (show: (client: Client, credential: string) => Promise<Response>): Door => shows(show, UNKNOWN, () => key);
  const byBearer = (show: (client: Client, headers: Record<string, string>) => Promise<Response>): Door =>
    shows(
      (client, authorization) => show(client, { authorization }),
      'Bearer nonsense',
      () => bearer,
    );
  const form = (fields = {}) => formOf([textFile('a.txt', 'Tea.')], fields);

  const DOORS: Readonly<Record<string, Door>> = {
    'a bearer': byBearer((client, headers) => client.get('/api/get_agents', headers)),
    'a personal access token': shows(
      (client, authorization) => client.get('/api/get_prompts', { authorization }),
      'Bearer dgpt_pat_nonsense',
      () => accessToken,
    ),
    'a bearer beside a question': byBearer((client, headers) => client.post('/api/answer', { question }, headers)),
    'a bearer beside files': byBearer((client, headers) => client.send('/api/store_attachment', form(), headers)),
    'the key of a question': byKey((client, api_key) => client.post('/api/answer', { question, api_key })),
    'the key of a streamed question': byKey((client, api_key) => client.post('/stream', { question, api_key })),
    'the key of a search': byKey((client, api_key) => client.post('/api/search', { question, api_key })),
    'the key in a header': byKey((client, api_key) => client.send('/api/store_attachment', form(), { 'x-api-key': api_key })),
    'the key beside files': byKey((client, api_key) => client.send('/api/store_attachment', form({ api_key }))),
    'the key of a reader': byKey((client, api_key) => client.get(`/api/messages/${messageId}/events?api_key=${api_key}`)),
    'the token of a webhook': {
      wrong: (client) => replyOf(client.post('/api/webhooks/agents/nonsense', {})),
      right: (client) => replyOf(client.post(hook, {})),
      status: 404,
    },
  };

  describe.each(Object.entries(DOORS))('%s', (_, { wrong, right, status }) => {
    it('is refused as wrong up to the limit, and then as too many', async () => {
      const client = newClient();
      for (let time = 0; time < MAX; time++) expect((await wrong(client)).status).toBe(status);
      const refused = await wrong(client);
      expect(refused.status).toBe(429);
      expect([REFUSED, REFUSED_TO_ANSWER]).toContainEqual(refused.body);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60 / MAX);
      expect((await right(client)).status).toBe(200);
      expect((await wrong(newClient())).status).toBe(status);
    });
  });

  it('an unknown sign-in state is counted too', async () => {
    const client = newClient();
    const back = () => client.get(`/api/mcp_server/callback?state=${UNKNOWN}.nonsense&code=c`);
    for (let time = 0; time < MAX; time++) expect((await replyOf(back())).status).toBe(400);
    expect(await replyOf(back())).toMatchObject({ status: 429, body: REFUSED });
  });

  it('all kinds are counted together', async () => {
    const client = newClient();
    const doors = Object.values(DOORS);
    for (let time = 0; time < MAX; time++) await doors[time]!.wrong(client);
    for (const { wrong } of doors) expect((await wrong(client)).status).toBe(429);
    for (const { right } of doors) expect((await right(client)).status).toBe(200);
  });

  it('pages of other origins may read the Retry-After header', async () => {
    const client = newClient();
    const { wrong } = DOORS['the key of a question']!;
    for (let time = 0; time < MAX; time++) await wrong(client);
    const { headers } = await wrong(client);
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
  });

  it('a trusted proxy also states the host and protocol that its client used', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'ask.example' };
    const { webhook_url } = (await replyOf(world.alice.get(`/api/agent_webhook?id=${agentId}`, headers))).body as {
      webhook_url: string;
    };
    expect(webhook_url).toMatch(/^https:\/\/ask\.example\/api\/webhooks\//);
  });

  it('the refusals are described in the API reference', async () => {
    type Responses = Record<string, Readonly<{ $ref?: string }>>;
    type Operations = Record<string, Readonly<{ description?: string; responses: Responses }>>;
    type Document = Readonly<{ paths: Record<string, Operations>; components: Readonly<{ responses: Responses }> }>;
    const { paths, components } = await world.nobody.json<Document>('/api/openapi.json');
    const answer = ({ responses }: Operations[string], status: number) => {
      const name = responses[status]?.$ref?.split('/').at(-1);
      return name === undefined ? responses[status] : components.responses[name];
    };
    const tooMany = { headers: { 'Retry-After': {} } };
    const readBearers = Object.entries(paths).filter(([path]) => path !== TELLS_IN_RESULTS && !BRINGS_OWN_CREDENTIAL.test(path));
    expect(readBearers.length).toBeGreaterThan(80);
    for (const operation of readBearers.flatMap(([, path]) => Object.values(path))) {
      expect(answer(operation, 401)).toBeDefined();
      expect(answer(operation, 429)).toMatchObject(tooMany);
    }
    const webhook = paths['/api/webhooks/agents/{token}']!['post']!;
    expect(answer(webhook, 404)).toBeDefined();
    expect(answer(webhook, 429)).toMatchObject(tooMany);
    expect(paths['/api/generate_token']!['get']!.description).toContain('GENERATED_TOKENS_MAX_PER_HOUR');
    expect(JSON.stringify(paths['/api/store_attachment'])).toContain(`more than ${UNAUTHENTICATED_UPLOAD_BYTES_MAX} bytes`);
  });

  it('new tokens are limited per address', async () => {
    const client = newClient();
    const ask = () => replyOf(client.get('/api/generate_token'));
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 429, body: { success: false, error: 'too_many_requests' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await replyOf(newClient().get('/api/generate_token'))).status).toBe(200);
  });
}
