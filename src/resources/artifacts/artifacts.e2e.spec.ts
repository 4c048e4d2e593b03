import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { cause } from '../../../test/support/turns.js';
import { userIdOf } from '../../../test/support/user-id.js';
import { Blobs } from '../../kernel/blobs.js';
import { Commands } from '../../kernel/commands.js';
import { newId } from '../../kernel/ids.js';
import { SessionTokens } from '../identity/session-tokens.js';
import { type NewArtifact, StoreArtifact } from './artifact.commands.js';
import { ArtifactQueries } from '../../../projections/artifacts/artifacts.queries.js';

type Body = Readonly<Record<string, any>>; // oxlint-disable-line typescript/no-explicit-any -- as clients read it

let service: TestService;
let alice: Client;
let bob: Client;
let alicesId: string;

beforeAll(async () => {
  service = await serviceForTests({ AUTH_TYPE: 'session_jwt', ARTIFACT_MAX_BYTES: '100', ARTIFACT_MAX_COUNT_PER_USER: '20' });
  const tokens = service.service.app.get(SessionTokens, { strict: false });
  const clientOf = async (userId: string) =>
    new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: userId, roles: [] })}` });
  [alice, bob] = [await clientOf('alice'), await clientOf('bob')];
  alicesId = await userIdOf(service, 'alice');
});
afterAll(() => service.close());

const stored = async (content: string, more: Partial<NewArtifact> = {}) => {
  const artifact: NewArtifact = {
    artifactId: newId(),
    ownerId: alicesId,
    parent: { workflowRunId: newId() },
    kind: 'file',
    title: 'tea.txt',
    filename: 'Grüße "x"/tea ☕.txt',
    mimeType: 'text/html',
    content: new Uint8Array(Buffer.from(content)),
    producedBy: { node_id: 'n1' },
    ...more,
  };
  const kept = await service.service.app.get(Commands, { strict: false }).execute(new StoreArtifact(artifact, cause));
  return { ...artifact, version: kept.version, path: `/api/artifacts/${artifact.artifactId}` };
};
const read = async (response: Response | Promise<Response>) => {
  const answer = await response;
  return { status: answer.status, body: (await answer.json()) as Body };
};
const SHA = /^[0-9a-f]{64}$/;
const NOT_FOUND = { status: 404, body: { success: false, message: 'Artifact not found' } };
const UNKNOWN = newId();

describe('an artifact', () => {
  it('is described with its versions but not with its blobs', async () => {
    const { artifactId, parent, path } = await stored('Tea');
    await stored('Cake', { artifactId, edition: 'second', parent, spec: { cells: 1 } });
    const { status, body } = await read(alice.get(path));
    const version = {
      mime_type: 'text/html',
      filename: 'Grüße "x"/tea ☕.txt',
      sha256: expect.stringMatching(SHA) as unknown,
      produced_by: { node_id: 'n1' },
      created_at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    };
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        artifact: {
          ...{ id: artifactId, conversation_id: null, workflow_run_id: parent.workflowRunId, message_id: null },
          ...{ kind: 'file', title: 'tea.txt', metadata: {}, current_version: 2, spec: { cells: 1 } },
          created_at: expect.any(String) as unknown,
          updated_at: expect.any(String) as unknown,
          versions: [
            { ...version, version: 1, size: 3, preview_text: 'Tea' },
            { ...version, version: 2, size: 4, preview_text: 'Cake' },
          ],
        },
      },
    });
    expect(await read(alice.get(`${path}/versions/2`))).toMatchObject({
      status: 200,
      body: { success: true, version: { version: 2, spec: { cells: 1 } } },
    });
    for (const version of ['3', '0', '-1', 'x', '1.5', '99999999999999'])
      expect(await read(alice.get(`${path}/versions/${version}`))).toEqual({ status: 404, body: { success: false, message: 'Version not found' } }); // oxfmt-ignore
  });

  it('is listed among all artifacts of its owner and by its workflow run', async () => {
    const { artifactId, parent } = await stored('Tea');
    const all = await read(alice.get('/api/artifacts'));
    expect((all.body['artifacts'] as Body[]).map(({ id }) => id as string)).toContain(artifactId);
    const ofRun = await read(alice.get(`/api/artifacts?workflow_run_id=${parent.workflowRunId}`));
    expect(ofRun.body['artifacts']).toEqual([(all.body['artifacts'] as Body[]).find(({ id }) => id === artifactId)]);
    expect(await read(bob.get('/api/artifacts'))).toEqual({ status: 200, body: { success: true, artifacts: [] } });
    expect(await read(bob.get(`/api/artifacts?workflow_run_id=${parent.workflowRunId}`))).toMatchObject({
      body: { artifacts: [] },
    });
    expect(await read(alice.get('/api/artifacts?workflow_run_id=x'))).toEqual({ status: 400, body: { success: false, message: 'Invalid workflow_run_id' } }); // oxfmt-ignore
    expect(await read(alice.get('/api/artifacts?conversation_id=x'))).toEqual({ status: 400, body: { success: false, message: 'Invalid conversation_id' } }); // oxfmt-ignore
    expect(await read(alice.get(`/api/artifacts?conversation_id=${UNKNOWN}`))).toMatchObject({ status: 403, body: { message: 'Forbidden' } }); // oxfmt-ignore
  });

  it('is always downloaded as a file under its name', async () => {
    const { path } = await stored('<script>alert(1)</script>');
    const response = await alice.get(`${path}/download`);
    expect(
      Object.fromEntries(
        ['content-type', 'content-disposition', 'x-content-type-options', 'content-length', 'content-security-policy'].map(
          (name) => [name, response.headers.get(name)],
        ),
      ),
    ).toEqual({
      // oxfmt-ignore
      'content-type': 'text/html',
      'content-disposition': `attachment; filename="tea _.txt"; filename*=UTF-8''tea%20%E2%98%95.txt`,
      'x-content-type-options': 'nosniff',
      'content-length': '25',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect(await response.text()).toBe('<script>alert(1)</script>');
    expect(await read(alice.get(`${path}/download?version=x`))).toEqual({ status: 400, body: { success: false, message: 'Invalid version' } }); // oxfmt-ignore
    expect(await read(alice.get(`${path}/download?version=2`))).toEqual({ status: 404, body: { success: false, message: 'Version not found' } }); // oxfmt-ignore
  });

  it('is downloaded by a link that needs no credential and cannot be forged', async () => {
    const { path } = await stored('Tea');
    for (const [query, headers] of [
      ['?disposition=url', {}],
      ['?version=1', { accept: 'application/json' }],
    ] as const) {
      // oxfmt-ignore
      const response = await alice.get(`${path}/download${query}`, headers);
      expect(response.headers.get('content-type')).toContain('application/vnd.docsgpt.artifact-url+json');
      const { success, url } = (await response.json()) as { success: boolean; url: string };
      expect([success, url.startsWith(`${service.url}/api/artifact_files/`)]).toEqual([true, true]);
      const file = await fetch(url);
      expect([await file.text(), file.headers.get('x-content-type-options')]).toEqual(['Tea', 'nosniff']);
      expect(file.headers.get('content-disposition')).toMatch(/^attachment;/);
      const altered = url.slice(0, -1) + (url.endsWith('A') ? 'B' : 'A');
      for (const wrong of [`${altered}x`, `${service.url}/api/artifact_files/x`]) expect((await fetch(wrong)).status).toBe(404);
    }
  });

  it('restores an earlier version as the newest', async () => {
    const { artifactId, path } = await stored('Tea');
    await stored('Cake', { artifactId, edition: 'second' });
    const { status, body } = await read(alice.post(`${path}/restore`, { version: 1 }));
    expect([status, body['success'], (body['version'] as Body)['version']]).toEqual([200, true, 3]);
    expect(await (await alice.get(`${path}/download`)).text()).toBe('Tea');
    expect(await read(alice.post(`${path}/restore`, {}))).toEqual({ status: 400, body: { success: false, message: 'Missing version' } }); // oxfmt-ignore
    for (const version of ['x', 0, -1, 1.5, {}, [1]])
      expect(await read(alice.post(`${path}/restore`, { version }))).toEqual({ status: 400, body: { success: false, message: 'Invalid version' } }); // oxfmt-ignore
    expect(await read(alice.post(`${path}/restore`, { version: 9 }))).toEqual({ status: 404, body: { success: false, message: 'Version not found' } }); // oxfmt-ignore
  });

  it('is deleted with its bytes, while another artifact with the same content remains', async () => {
    const [one, other] = [await stored('Tea'), await stored('Tea')];
    const queries = service.service.app.get(ArtifactQueries, { strict: false });
    const blob = (await queries.version(one.artifactId, 1))!.blob.sha256;
    const blobs = service.service.app.get(Blobs, { strict: false });
    expect(await read(alice.delete(one.path))).toEqual({ status: 200, body: { success: true } });
    expect(await read(alice.get(one.path))).toEqual(NOT_FOUND);
    expect(await read(alice.delete(one.path))).toEqual(NOT_FOUND);
    await eventually(async () => {
      const found = await blobs.get(blob).catch(() => undefined);
      found?.destroy();
      return found === undefined;
    });
    expect(await (await alice.get(`${other.path}/download`)).text()).toBe('Tea');
  });

  it('is reported to other users as not found', async () => {
    const { path } = await stored('Tea');
    const missing = `/api/artifacts/${UNKNOWN}`;
    for (const [who, at] of [
      [bob, path],
      [alice, missing],
      [alice, '/api/artifacts/not-an-id'],
      [alice, '/api/artifacts/..%2f..%2fetc'],
    ] as const) {
      // oxfmt-ignore
      expect(await read(who.get(at))).toEqual(NOT_FOUND);
      expect(await read(who.get(`${at}/versions/1`))).toEqual(NOT_FOUND);
      expect(await read(who.get(`${at}/download`))).toEqual(NOT_FOUND);
      expect(await read(who.get(`${at}/download?disposition=url`))).toEqual(NOT_FOUND);
      expect(await read(who.post(`${at}/restore`, { version: 1 }))).toEqual(NOT_FOUND);
      expect(await read(who.delete(at))).toEqual(NOT_FOUND);
    }
    expect((await alice.get(path)).status).toBe(200);
    for (const at of ['/api/artifacts', path, `${path}/download`]) expect((await fetch(service.url + at)).status).toBe(401);
  });

  it('is refused beyond the configured quota', async () => {
    await expect(stored('x'.repeat(101))).rejects.toMatchObject({ code: 'artifact-quota-exceeded' });
    await expect(stored('x'.repeat(100))).resolves.toMatchObject({ version: 1 });
    const { body } = await read(alice.get('/api/artifacts'));
    for (let kept = (body['artifacts'] as Body[]).length; kept < 20; kept++) await stored('x');
    await expect(stored('x')).rejects.toMatchObject({ code: 'artifact-quota-exceeded' });
  });
});

describe('an artifact of a conversation', () => {
  const asked = async (who: Client, headers: Record<string, string> = {}, more: object = {}) => {
    const { body } = await read(who.post('/api/answer', { question: 'Tea?', ...more }, headers));
    return body['conversation_id'] as string;
  };
  let carol: Client;
  let carolsId: string;
  beforeAll(async () => {
    const tokens = service.service.app.get(SessionTokens, { strict: false });
    carol = new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: 'carol', roles: [] })}` });
    carolsId = await userIdOf(service, 'carol');
  });

  it('is listed by the conversation and deleted with it', async () => {
    const conversationId = await asked(carol);
    const { artifactId, path } = await stored('Tea', { ownerId: carolsId, parent: { conversationId, workflowRunId: newId() } });
    const { body } = await read(carol.get(`/api/artifacts?conversation_id=${conversationId}`));
    expect((body['artifacts'] as Body[]).map(({ id }) => id as string)).toEqual([artifactId]);
    expect((await bob.get(`/api/artifacts?conversation_id=${conversationId}`)).status).toBe(403);
    expect((await carol.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
    await eventually(async () => (await carol.get(path)).status === 404);
  });

  it('is deleted when it is stored for a deleted conversation', async () => {
    const { path } = await stored('Tea', { ownerId: carolsId, parent: { conversationId: newId(), workflowRunId: newId() } });
    await eventually(async () => (await carol.get(path)).status === 404);
  });

  /** A caller with the key of a new agent, and the caller's conversation with it. */
  const visiting = async () => {
    const created = await read(carol.post('/api/create_agent', { name: 'Guide', description: 'x', status: 'published', prompt_id: 'default', agent_type: 'classic', retriever: 'classic', chunks: '0', source: 'default' })); // oxfmt-ignore
    const key = created.body['key'] as string;
    const visitor = new Client(service.url, { 'x-api-key': key });
    const conversationId = await asked(visitor, {}, { api_key: key });
    return { visitor, conversationId };
  };

  it('can be read with the agent’s key and the conversation’s id, and changed only by its owner', async () => {
    const { visitor, conversationId } = await visiting();
    expect(typeof conversationId).toBe('string');
    const { path } = await stored('Tea', { ownerId: carolsId, parent: { conversationId, workflowRunId: newId() } });
    const named = `?conversation_id=${conversationId}`;
    expect((await visitor.get(`/api/artifacts${named}`)).status).toBe(200);
    expect((await visitor.get('/api/artifacts')).status).toBe(403);
    expect((await visitor.get(`/api/artifacts?workflow_run_id=${newId()}`)).status).toBe(403);
    expect((await visitor.get(path + named)).status).toBe(200);
    expect(await (await visitor.get(`${path}/download${named}`)).text()).toBe('Tea');
    for (const other of ['', `?conversation_id=${newId()}`]) expect(await read(visitor.get(path + other))).toEqual(NOT_FOUND);
    expect((await visitor.post(`${path}/restore${named}`, { version: 1 })).status).toBe(403);
    expect((await visitor.delete(path + named)).status).toBe(403);
    expect((await visitor.delete(path)).status).toBe(404);
    expect((await carol.delete(path)).status).toBe(200);
  });

  it('is downloaded with an agent’s key without a warning of Node about too many listeners', async () => {
    const { visitor, conversationId } = await visiting();
    const { path } = await stored('Tea', { ownerId: carolsId, parent: { conversationId, workflowRunId: newId() } });
    const warnings: Error[] = [];
    const note = (warning: Error) => void (warning.name === 'MaxListenersExceededWarning' && warnings.push(warning));
    process.on('warning', note);
    try {
      expect(await (await visitor.get(`${path}/download?conversation_id=${conversationId}`)).text()).toBe('Tea');
    } finally {
      process.off('warning', note);
    }
    expect(warnings).toEqual([]);
  });

  describe('shown by a link', () => {
    const nobody = () => new Client(service.url);
    const turnsOf = async (conversationId: string) => {
      const { body } = await read(carol.get(`/api/get_single_conversation?id=${conversationId}`));
      return (body['queries'] as Body[]).map((query) => query['message_id'] as string);
    };
    const made = (conversationId: string, messageId: string | null = null, more: Partial<NewArtifact> = {}) =>
      stored('Tea', { ownerId: carolsId, parent: { conversationId, workflowRunId: newId(), messageId }, ...more });
    const shared = async (conversation_id: string) => {
      const { status, body } = await read(carol.post('/api/share?isPromptable=false', { conversation_id }));
      expect(status).toBe(201);
      return body['identifier'] as string;
    };

    it('can be read without a credential in the versions of that time, but not changed', async () => {
      const conversationId = await asked(carol);
      const [turnId] = await turnsOf(conversationId);
      const one = await made(conversationId, turnId);
      const token = await shared(conversationId);
      const by = `?share_token=${token}`;
      await stored('Cake', { ...one, edition: 'second', content: new Uint8Array(Buffer.from('Cake')) });
      const shown = await read(nobody().get(one.path + by));
      expect(shown).toMatchObject({
        status: 200,
        body: { artifact: { id: one.artifactId, current_version: 1, conversation_id: null, workflow_run_id: null } },
      });
      expect((shown.body['artifact'] as Body)['versions']).toHaveLength(1);
      expect(await (await nobody().get(`${one.path}/download${by}`)).text()).toBe('Tea');
      expect((await nobody().get(`${one.path}/versions/1${by}`)).status).toBe(200);
      expect((await nobody().get(`${one.path}/versions/2${by}`)).status).toBe(404);
      expect((await nobody().get(`${one.path}/download${by}&version=2`)).status).toBe(404);
      expect((await bob.get(one.path + by)).status).toBe(200);
      expect(await read(carol.get(one.path + by))).toMatchObject({ body: { artifact: { current_version: 2 } } });
      expect((await nobody().delete(one.path + by)).status).toBe(401);
      expect((await bob.post(`${one.path}/restore${by}`, { version: 1 })).status).toBe(404);
    });

    it('is not one of another turn or made after the link', async () => {
      const conversationId = await asked(carol);
      const [turnId] = await turnsOf(conversationId);
      const one = await made(conversationId, turnId);
      const before = await made(conversationId);
      const token = await shared(conversationId);
      const later = await made(conversationId, turnId);
      await asked(carol, {}, { conversation_id: conversationId });
      const next = await made(conversationId, (await turnsOf(conversationId)).at(-1));
      const other = await stored('Tea', { ownerId: carolsId });
      for (const { path } of [before, later, next, other])
        expect(await read(nobody().get(`${path}?share_token=${token}`))).toEqual(NOT_FOUND);
      const ids = async (who: Client, query: string) =>
        ((await read(who.get(`/api/artifacts${query}`))).body['artifacts'] as Body[]).map(({ id }) => id as string);
      for (const query of [`?share_token=${token}`, `?share_token=${token}&conversation_id=${conversationId}`])
        for (const who of [nobody(), bob]) expect(await ids(who, query)).toEqual([one.artifactId]);
      expect(await ids(carol, `?share_token=${token}&conversation_id=${conversationId}`)).toHaveLength(4);
      expect((await nobody().get(`/api/artifacts?share_token=${token}&conversation_id=${newId()}`)).status).toBe(404);
    });

    it('is not found after the link is revoked', async () => {
      const conversationId = await asked(carol);
      const [turnId] = await turnsOf(conversationId);
      const { path } = await made(conversationId, turnId);
      const token = await shared(conversationId);
      expect((await nobody().get(`${path}?share_token=${token}`)).status).toBe(200);
      expect((await carol.delete(`/api/share?identifier=${token}`)).status).toBe(200);
      for (const wrong of [token, 'nonsense', ''])
        expect(await read(nobody().get(`${path}?share_token=${wrong}`))).toEqual(NOT_FOUND);
      expect((await nobody().get(`/api/artifacts?share_token=${token}`)).status).toBe(404);
      expect((await nobody().get(path)).status).toBe(401);
    });
  });
});
