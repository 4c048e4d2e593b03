import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { GithubServer } from '../support/github-server.js';
import { S3Server } from '../support/s3-server.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

type Added = Readonly<{ task_id: string; source_id: string }>;
type Status = Readonly<{ status: string; result: unknown }>;
type Listed = Readonly<{ id: string; type: string; provider: string; syncFrequency: string }>;

const TOKEN = 'ghp_0123456789verysecret';

/** Repositories and buckets as sources: what questions find, what changes when they change, and where credentials are stored. */
export function storedFilesStory(makeBacking: MakeBacking): void {
  let world: World;
  let github: GithubServer;
  let s3: S3Server;
  let bearer: string;

  beforeAll(async () => {
    [github, s3] = await Promise.all([GithubServer.started(), S3Server.started()]);
    const settings = {
      ALLOWED_PRIVATE_HOSTS: `${github.server.host},${s3.server.host}`,
      GITHUB_API_BASE_URL: github.apiBaseUrl,
      GITHUB_RAW_BASE_URL: github.rawBaseUrl,
    };
    world = await openWorld(settings, makeBacking);
    const tokens = world.service.service.app.get(SessionTokens, { strict: false });
    bearer = `Bearer ${await tokens.issue({ subject: 'alice', roles: [] })}`;
  });
  afterAll(async () => {
    await world.close();
    await Promise.all([github.server.close(), s3.server.close()]);
  });
  beforeEach(() => {
    github.files.clear();
    s3.objects.clear();
    github.token = undefined;
  });

  const remote = (source: string, data: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ user: 'local', name: 'Stored', source, data: JSON.stringify(data) })) {
      form.append(name, value);
    }
    const request = { method: 'POST', body: form, headers: { authorization: bearer, ...headers } };
    return replyOf(fetch(`${world.service.url}/api/remote`, request));
  };
  const ended = async (taskId: string): Promise<Status> => {
    let status: Status = { status: '', result: null };
    await eventually(async () => {
      status = await world.alice.json<Status>(`/api/task_status?task_id=${taskId}`);
      return ['SUCCESS', 'FAILURE'].includes(status.status);
    });
    return status;
  };
  const add = async (source: string, data: unknown): Promise<Readonly<{ id: string; ended: Status }>> => {
    const { status, body } = await remote(source, data);
    expect([status, body]).toMatchObject([200, { success: true }]);
    const { source_id: id, task_id } = body as Added;
    return { id, ended: await ended(task_id) };
  };
  const sync = async (id: string): Promise<Status> => {
    const { status, body } = await replyOf(world.alice.post('/api/sync_source', { source_id: id }));
    expect(status).toBe(200);
    return ended((body as Added).task_id);
  };
  const cited = async (id: string, question: string): Promise<string> => {
    const { key } = await world.agent({ sources: [id] });
    const answer = await world.nobody.post('/api/answer', { question, api_key: key });
    return JSON.stringify(((await answer.json()) as { sources: unknown }).sources);
  };
  /** Everything that is stored in events, and in every table of every read model. */
  const everything = async (): Promise<string> => {
    const texts: string[] = [];
    for await (const page of world.backing.store.readAll({ after: -1n })) {
      texts.push(...page.events.map(({ data, metadata }) => `${data}${metadata}`));
    }
    const { sql } = world.backing.database;
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
    for (const { name } of tables) {
      const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`);
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  };

  it('a private repository is found by questions, with its new content once it has changed and been synced', async () => {
    github.token = TOKEN;
    github.files.set('docs/ferry.md', '# Ferry\n\nA ticket for the ferry costs 12 crowns.');
    github.files.set('src/tide.py', '# The tide table of the harbour is computed by moonphase.\ndef moonphase(): pass');
    const data = { repo_url: github.repositoryUrl, access_token: TOKEN, sync_frequency: 'daily' };
    const { id, ended: first } = await add('github', data);
    expect(first).toEqual({
      status: 'SUCCESS',
      result: {
        id,
        urls: github.repositoryUrl,
        name_job: 'Stored',
        user: await world.idOf('alice'),
        limited: false,
        pages: 2,
        warnings: [],
      },
    });
    expect(await cited(id, 'What does a ticket for the ferry cost?')).toContain('12 crowns');
    expect(await cited(id, 'How is the tide table of the harbour computed?')).toContain('moonphase');
    const listed = (await world.alice.json<Listed[]>('/api/sources')).find((source) => source.id === id);
    expect(listed).toMatchObject({ type: 'github', provider: 'github', syncFrequency: 'daily' });
    const { directory_structure } = await world.alice.json<{ directory_structure: object }>(`/api/directory_structure?id=${id}`);
    expect(directory_structure).toMatchObject({ docs: { 'ferry.md': {} }, src: { 'tide.py': {} } });
    github.files.set('docs/ferry.md', '# Ferry\n\nA ticket for the ferry costs 15 crowns.').delete('src/tide.py');
    expect(await sync(id)).toMatchObject({ status: 'SUCCESS', result: { pages: 1 } });
    const now = await cited(id, 'What does a ticket for the ferry cost?');
    expect([now.includes('15 crowns'), now.includes('12 crowns'), now.includes('moonphase')]).toEqual([true, false, false]);
  });

  it('a bucket is found by questions, with its new content once it has changed and been synced', async () => {
    s3.objects.set('guide/mill.md', '# Mill\n\nThe mill grinds rye on Mondays.').set('guide/oven.txt', 'The oven bakes at dawn.');
    s3.objects.set('other/secret.md', 'Not under the prefix.');
    const { id, ended: first } = await add('s3', { ...s3.data, prefix: 'guide/' });
    expect(first).toMatchObject({ status: 'SUCCESS', result: { urls: 's3://docs/guide/', pages: 2, warnings: [] } });
    expect(await cited(id, 'When does the mill grind?')).toContain('rye');
    s3.objects.set('guide/mill.md', '# Mill\n\nThe mill grinds wheat on Tuesdays.');
    expect(await sync(id)).toMatchObject({ status: 'SUCCESS', result: { pages: 2 } });
    expect(await cited(id, 'When does the mill grind?')).toContain('wheat');
  });

  it('an unchanged bucket keeps its chunks, and so does one that cannot be reached', async () => {
    s3.objects.set('a.md', 'The lighthouse keeper keeps owls.');
    const { id } = await add('s3', s3.data);
    const chunkIds = async () =>
      (await world.alice.json<{ chunks: { doc_id: string }[] }>(`/api/get_chunks?id=${id}`)).chunks.map(({ doc_id }) => doc_id);
    const before = await chunkIds();
    expect((await sync(id)).status).toBe('SUCCESS');
    expect([before.length, await chunkIds()]).toEqual([1, before]);
    s3.objects.clear();
    expect(await sync(id)).toEqual({
      status: 'FAILURE',
      result: 'No file could be fetched. s3://docs/: It holds no file that can be read.',
    });
    expect(await chunkIds()).toEqual(before);
  });

  it('wrong credentials are reported by the task, without any part of them', async () => {
    const data = { ...s3.data, aws_secret_access_key: 'WRONGSECRETKEY0123' };
    expect((await add('s3', data)).ended).toEqual({
      status: 'FAILURE',
      result: 'No file could be fetched. s3://docs/: The store refuses the secret access key.',
    });
  });

  it('credentials are stored only in the vault, once per key, and deleted with their source', async () => {
    github.token = TOKEN;
    github.files.set('a.md', 'A');
    s3.objects.set('a.md', 'A');
    const idempotent = { 'idempotency-key': 'stored-1' };
    const data = { repo_url: github.repositoryUrl, access_token: TOKEN };
    const [first, second] = [await remote('github', data, idempotent), await remote('github', data, idempotent)];
    expect(second.body).toEqual(first.body);
    await ended((first.body as Added).task_id);
    const { id } = await add('s3', s3.data);
    const ownerId = await world.idOf('alice');
    const kept = async () =>
      (await world.backing.database.sql`select from credentials.sealed_credential where owner_id = ${ownerId}`).length;
    const before = await kept();
    const stored = await everything();
    expect(stored).toContain(github.repositoryUrl);
    for (const secret of [TOKEN, s3.secretAccessKey, s3.accessKeyId, 'WRONGSECRETKEY0123']) {
      expect(stored.includes(secret)).toBe(false);
      // The form in which columns of bytes are printed.
      expect(stored.includes(Buffer.from(secret).toString('hex'))).toBe(false);
    }
    for (const source of [id, (first.body as Added).source_id]) {
      expect((await world.alice.json<{ success: boolean }>(`/api/delete_old?source_id=${source}`)).success).toBe(true);
    }
    await eventually(async () => (await kept()) === before - 2);
  });

  describe('a request is refused', () => {
    it.each([
      ['github', { repo_url: 'https://example.com/ann/handbook' }, 'repo_url must be the address of a repository'],
      ['github', {}, 'Missing required fields: repo_url'],
      ['s3', { bucket: 'docs' }, 'Missing required fields: aws_access_key_id, aws_secret_access_key'],
      [
        's3',
        { aws_access_key_id: 'a', aws_secret_access_key: 'b', bucket: 'docs', endpoint_url: 'http://169.254.169.254' },
        'may not be reached from here',
      ],
    ])('as %s, %j', async (source, data, reason) => {
      const { status, body } = await remote(source, data);
      expect([status, body]).toEqual([400, { success: false, message: expect.stringContaining(reason) as unknown }]);
    });
  });
}
