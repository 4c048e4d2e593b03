import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '../../../../test/support/client.js';
import { serviceForTests, type TestService } from '../../../../test/support/service.js';
import { callContext, callTool, usedTool } from '../../../../test/support/tool-calls.js';
import { userIdOf } from '../../../../test/support/user-id.js';
import { SessionTokens } from '../../identity/session-tokens.js';
import { newId } from '../../../kernel/ids.js';
import { ToolKinds } from '../toolbox/tool-kinds.js';

let service: TestService;
let alice: Client;
let bob: Client;
let alicesId: string;

beforeAll(async () => {
  service = await serviceForTests({ AUTH_TYPE: 'session_jwt', ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost' });
  const tokens = service.service.app.get(SessionTokens, { strict: false });
  const clientOf = async (userId: string) =>
    new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: userId, roles: [] })}` });
  [alice, bob] = [await clientOf('alice'), await clientOf('bob')];
  alicesId = await userIdOf(service, 'alice');
});
afterAll(() => service.close());

const kind = (name: string) => service.service.app.get(ToolKinds, { strict: false }).byName(name)!;
const artifact = async (id: string, as = alice) => {
  const response = await as.get(`/api/artifact/${id}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const artifactOf = async (name: string, action: string, args: object) =>
  ((await callTool(kind(name), action, { ...args }, { context: callContext({ userId: alicesId }) })) as { artifact_id: string })
    .artifact_id;

describe('an artifact of a model', () => {
  it('is shown to its user as a note', async () => {
    const id = await artifactOf('notes', 'note_overwrite', { text: 'Tea at four.\nCake.\n' });
    expect(await artifact(id)).toEqual({
      status: 200,
      body: {
        success: true,
        artifact: {
          artifact_type: 'note',
          data: { content: 'Tea at four.\nCake.\n', line_count: 2, updated_at: expect.stringMatching(/^\d{4}-/) },
        },
      },
    });
  });

  it('is shown to its user as a to-do list', async () => {
    const id = await artifactOf('todo_list', 'todo_create', { title: 'Buy tea' });
    await artifactOf('todo_list', 'todo_complete', { todo_id: 1 });
    const { body } = await artifact(id);
    expect(body).toMatchObject({
      artifact: {
        artifact_type: 'todo_list',
        data: {
          items: [{ todo_id: 1, title: 'Buy tea', status: 'completed' }],
          total_count: 1,
          open_count: 0,
          completed_count: 1,
        },
      },
    });
  });

  it('looks to anyone else like a missing one', async () => {
    const id = await artifactOf('notes', 'note_overwrite', { text: 'Secret.' });
    const missing = { status: 404, body: expect.objectContaining({ success: false, message: 'Artifact not found' }) };
    expect(await artifact(id, bob)).toEqual(missing);
    expect(await artifact(newId())).toEqual(missing);
    expect(await artifact('..%2F..')).toEqual(missing);
    expect((await new Client(service.url).get(`/api/artifact/${id}`)).status).toBe(401);
    await artifactOf('notes', 'note_delete', {});
    expect(await artifact(id)).toEqual(missing);
  });

  it('still exists after a restart', async () => {
    const id = await artifactOf('notes', 'note_overwrite', { text: 'Still here.' });
    await service.restart();
    expect((await artifact(id)).body).toMatchObject({ artifact: { data: { content: 'Still here.' } } });
  });
});

it('fifty concurrent calls make fifty changes to one memory', async () => {
  const context = () => callContext({ userId: 'carol' });
  const calls = Array.from({ length: 50 }, (_, index) =>
    callTool(kind('memory'), 'memory_create', { path: `/${index}`, file_text: 'x' }, { context: context() }),
  );
  await Promise.all(calls);
  const listing = await callTool(kind('memory'), 'memory_view', { path: '/' }, { context: context() });
  expect(String(listing).split('\n')).toHaveLength(1 + 50);
});

describe('a Postgres tool', () => {
  it('reads the schema that the database role may read', async () => {
    await service.database.sql.unsafe('create table public.teas (id int primary key, name text not null)');
    const tool = usedTool(kind('postgres'), {}, { token: service.database.url });
    const { columns, rows } = (await callTool(kind('postgres'), 'postgres_get_schema', {}, { tool })) as {
      columns: string[];
      rows: string[][];
    };
    expect(columns).toEqual(['schema', 'name', 'kind', 'columns']);
    expect(rows).toContainEqual(['public', 'teas', 'table', 'id integer not null primary key, name text not null']);
  });

  it('is not set up for a private address, and does not show its secret', async () => {
    const setUp = (host: string) =>
      alice.post('/api/create_tool', {
        name: 'postgres',
        displayName: 'Shop',
        description: 'Ours',
        config: { token: `postgresql://al:planted-secret@${host}/shop` },
        status: true,
      });
    const refused = await setUp('10.0.0.8');
    expect(refused.status).toBe(400);
    const text = await refused.text();
    expect(text).toContain('not a public address');
    expect(text).not.toContain('planted-secret');
    expect((await setUp('93.184.215.14')).status).toBe(200);
    expect(await (await alice.get('/api/get_tools')).text()).not.toContain('planted-secret');
  });
});
