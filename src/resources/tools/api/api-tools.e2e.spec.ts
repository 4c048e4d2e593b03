import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, streamed } from '../../../../test/support/client.js';
import { answerJson, LocalServer } from '../../../../test/support/local-server.js';
import { BOUNDARY, fileHead } from '../../../../test/support/raw-upload.js';
import { call, say, ScriptedModelServer } from '../../../../test/support/scripted-model-server.js';
import { serviceForTests, type TestService } from '../../../../test/support/service.js';

const SECRET = 'Bearer planted-secret-7c2e';
const SPEC_BYTES_MAX = 4096;

let api: LocalServer;
let model: ScriptedModelServer;
let service: TestService;
let client: Client;

beforeAll(async () => {
  [api, model] = await Promise.all([LocalServer.started(), ScriptedModelServer.start()]);
  api.answer = ({ path, headers, body }, response) => answerJson(response, { path, authorization: headers.authorization, body });
  service = await serviceForTests({
    ALLOWED_PRIVATE_HOSTS: api.host,
    OPENAI_BASE_URL: model.url,
    PARSE_SPEC_MAX_BYTES: String(SPEC_BYTES_MAX),
  });
  client = new Client(service.url);
});
afterAll(async () => {
  await service.close();
  await Promise.all([api.close(), model.close()]);
});

const post = async (path: string, body: unknown) => {
  const response = await client.post(`/api/${path}`, body);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const upload = async (content: string, field = 'file') => {
  const form = new FormData();
  form.append(field, new File([content], 'spec.yaml'));
  const response = await fetch(`${service.url}/api/parse_spec`, { method: 'POST', body: form });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const everythingStored = async (): Promise<string> => {
  const { sql } = service.database;
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => JSON.stringify(await sql.unsafe(`select t::text from ${name} t`))),
  );
  return texts.join('\n');
};
const toolOf = (url: string) => ({
  name: 'api_tool',
  displayName: 'API Tool',
  description: 'The API of the test.',
  status: true,
  config: {
    actions: {
      create_item: {
        name: 'create_item',
        url,
        method: 'POST',
        description: 'Makes an item',
        active: true,
        headers: { type: 'object', properties: { Authorization: { type: 'string', value: SECRET, filled_by_llm: false } } },
        query_params: { type: 'object', properties: {} },
        body: { type: 'object', properties: { title: { type: 'string', filled_by_llm: true, required: true } } },
      },
    },
  },
});

describe('an API tool', () => {
  it('is set up and listed without its secret', async () => {
    const created = await post('create_tool', toolOf(`${api.url}/{list}/items`));
    expect(created).toEqual({ status: 200, body: { id: expect.any(String) } });
    const listed = await (await client.get('/api/get_tools')).text();
    expect(listed).toContain('create_item');
    expect(listed).not.toContain('planted-secret');
    const { tools } = JSON.parse(listed) as { tools: { id: string; config: object; actions: object[] }[] };
    const row = tools.find(({ id }) => id === created.body['id'])!;
    expect(row.actions).toMatchObject([{ name: 'create_item', active: true, parameters: { required: ['list', 'title'] } }]);
  });

  it.each(['http://169.254.169.254/x', 'http://10.0.0.1/', 'http://localhost:1/', 'file:///etc/passwd'])(
    'is refused for %s',
    async (url) => {
      expect(await post('create_tool', toolOf(url))).toMatchObject({ status: 400, body: { success: false } });
    },
  );

  it("sends its owner's secret when a model calls it, and shows it nowhere", async () => {
    const before = api.requests.length;
    model.next([call('call-1', 'create_item', { list: 'a/b', title: 'New' })], [...say('Made.')]);
    const { text, frames } = await streamed(
      await client.post('/stream', { question: 'Make one', history: '[]', conversation_id: null }),
    );
    const outcome = frames.find(
      ({ data }) => data.type === 'tool_call' && (data['data'] as { status: string }).status === 'completed',
    );
    expect(outcome?.data['data']).toMatchObject({ tool_name: 'api_tool', action_name: 'create_item' });
    expect(api.requests.slice(before)).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/a%2Fb/items',
        headers: expect.objectContaining({ authorization: SECRET }),
        body: '{"title":"New"}',
      }),
    ]);
    expect(text).not.toContain('planted-secret');
    expect(JSON.stringify(model.requests)).not.toContain('planted-secret');
    const stored = await everythingStored();
    expect(stored).toContain('create_item');
    expect(stored).not.toContain('planted-secret');
  });
});

describe('POST /api/parse_spec', () => {
  const SPEC = JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'T', version: '1' },
    servers: [{ url: 'https://a.example' }],
    paths: { '/x': { get: { operationId: 'getX' } } },
  });

  it('makes actions from a file and from text', async () => {
    const expected = {
      status: 200,
      body: {
        success: true,
        metadata: expect.objectContaining({ title: 'T', base_url: 'https://a.example' }),
        actions: [expect.objectContaining({ name: 'getX', url: 'https://a.example/x' })],
      },
    };
    expect(await upload(SPEC)).toEqual(expected);
    expect(await post('parse_spec', { spec_content: SPEC })).toEqual(expected);
  });

  it('refuses a missing, an invalid and a too large description', async () => {
    const large = 'x'.repeat(SPEC_BYTES_MAX + 1);
    expect(await post('parse_spec', {})).toMatchObject({ status: 400, body: { success: false } });
    expect(await post('parse_spec', { spec_content: 'no spec' })).toMatchObject({ status: 400 });
    expect(await upload('')).toMatchObject({ status: 400 });
    expect(await upload(SPEC, 'other')).toMatchObject({ status: 200 });
    expect(await post('parse_spec', { spec_content: large })).toMatchObject({ status: 413, body: { success: false } });
    expect(await upload(large)).toMatchObject({ status: 413, body: { success: false } });
  });

  it.each(['multipart/form-data', `multipart/form-data; boundary=${BOUNDARY}`])(
    'refuses an incomplete form of the type %s',
    async (type) => {
      const body = `${fileHead('file', 'spec.json')}{"half`;
      const { status } = await fetch(`${service.url}/api/parse_spec`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      expect(status).toBe(400);
    },
  );
});
