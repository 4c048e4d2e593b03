import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, framesIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { say, words } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { USUAL_DEADLINES } from '../support/service.js';
import { replyOf } from '../support/world.js';

const MESSAGE = 'The service has no space left to store anything. Please try again later.';
const REFUSED = { success: false, message: MESSAGE, error: 'disk_full' };
const TEXT = 'The moon is made of green cheese. '.repeat(20_000);

const formWith = (fields: Readonly<Record<string, string>>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([TEXT]), 'moon.md');
  return form;
};
const uploaded = (client: Client, key: string) =>
  replyOf(client.send('/api/upload', formWith({ name: 'Moon' }), { 'idempotency-key': key }));
const attached = (client: Client) => replyOf(client.send('/api/store_attachment', formWith({})));
const asked = (client: Client) => replyOf(client.post('/api/answer', { question: 'Why?' }));

const succeeds = (client: Client, taskId: string) =>
  eventually(async () => (await client.json(`/api/task_status?task_id=${taskId}`))['status'] === 'SUCCESS');

function expectRefused({ status, headers, body }: Awaited<ReturnType<typeof replyOf>>, expected: object = REFUSED): void {
  expect({ status, body, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, body: expected, retryAfter: '10' });
}

type Refusal = Readonly<{ headers: object; 'x-codes': readonly string[] }>;
type Reference = Readonly<{
  paths: Record<string, { post: { responses: Record<string, { $ref: string }> } }>;
  components: Readonly<{ responses: Readonly<Record<string, Refusal>> }>;
}>;

const documentedRefusal = async (client: Client, path: string): Promise<Refusal | undefined> => {
  const { paths, components } = await client.json<Reference>('/api/openapi.json');
  return components.responses[paths[path]!.post.responses['503']!.$ref.split('/').at(-1)!];
};

const filesIn = async (folder: string) =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());

describe('A disk that is full for files', () => {
  let dataDir: string;
  let marker: string;
  let running: ScriptedProcess;
  let client: Client;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'verbatim-full-disk-'));
    marker = join(dataDir, 'full');
    const preload = pathToFileURL(join(import.meta.dirname, '../support/full-disk.js')).href;
    running = await startScriptedProcess({ DATA_DIR: dataDir, FULL_DISK: marker, NODE_OPTIONS: `--import=${preload}` });
    ({ client } = running);
  });
  afterAll(async () => {
    await running?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('refuses uploads with the reason, keeps nothing of them, and accepts the same uploads once there is space', async () => {
    await writeFile(marker, '');
    expectRefused(await uploaded(client, 'moon'));
    expectRefused(await attached(client));
    for (const path of ['/api/upload', '/api/store_attachment']) {
      const documented = { headers: { 'Retry-After': {} }, 'x-codes': expect.arrayContaining([REFUSED.error]) };
      expect(await documentedRefusal(client, path)).toMatchObject(documented);
    }
    expect(await filesIn(join(dataDir, 'uploads'))).toEqual([]);
    expect((await asked(client)).status).toBe(200);
    await rm(marker);
    const [source, attachment] = [await uploaded(client, 'moon'), await attached(client)];
    expect([source.status, attachment.status]).toEqual([200, 200]);
    for (const { body } of [source, attachment]) await succeeds(client, (body as { task_id: string }).task_id);
  });
});

describe('A disk that is full for Postgres', () => {
  let running: ScriptedProcess;
  let client: Client;
  beforeAll(async () => {
    running = await startScriptedProcess(USUAL_DEADLINES);
    ({ client } = running);
    await running.backing.database.sql.unsafe(`
      create function public.full_disk() returns trigger language plpgsql as $$
      begin
        raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
      end $$`);
  });
  afterAll(() => running?.close());

  const fill = () =>
    running.backing.database.sql.unsafe(
      'create trigger full_disk before insert on event_store.event execute function public.full_disk()',
    );
  const free = () => running.backing.database.sql.unsafe('drop trigger full_disk on event_store.event');

  it('refuses questions and uploads with the reason, each in the format of its route, and accepts the same once there is space', async () => {
    running.model.always(say('Because.'));
    await fill();
    const question = { question: 'Why?', visibility: 'listed' };
    const [answer, stream, source] = await Promise.all([
      asked(client),
      client.post('/stream', question),
      uploaded(client, 'moon'),
    ]);
    expectRefused(answer, { error: MESSAGE, code: 'disk_full' });
    expect([stream.status, await stream.text()]).toEqual([
      503,
      `data: ${JSON.stringify({ type: 'error', error: MESSAGE, code: 'disk_full' })}\n\n`,
    ]);
    expectRefused(source);
    await free();
    expect((await asked(client)).status).toBe(200);
    expect((await client.stream(question)).frames.at(-1)!.data.type).toBe('end');
    const again = await uploaded(client, 'moon');
    expect(again.status).toBe(200);
    await succeeds(client, (again.body as { task_id: string }).task_id);
  });

  it('delays an answer that is being streamed, and loses nothing of it', async () => {
    running.model.always(words(60, 50));
    let text = '';
    const streaming = client.stream({ question: 'Why?', visibility: 'listed' }, (sofar) => ((text = sofar), false));
    await eventually(() => framesIn(text).length > 5);
    await fill();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await free();
    const { frames } = await streaming;
    expect(frames.at(-1)!.data.type).toBe('end');
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index));
    expect(frames.filter(({ data }) => data.type === 'answer').length).toBeGreaterThan(1);
  });
});

describe('An embedded Postgres that cannot start because of a full disk', () => {
  let dataDir: string;
  let running: ScriptedProcess;
  let client: Client;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'verbatim-full-disk-'));
    running = await startScriptedProcess({ ...USUAL_DEADLINES, DATABASE_URL: '', DATA_DIR: dataDir });
    ({ client } = running);
  });
  afterAll(async () => {
    await running?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('is reported with 503 and the reason in responses and in readiness, and recovers by itself', async () => {
    const cluster = join(dataDir, 'postgres/cluster');
    const settings = join(cluster, 'postgresql.auto.conf');
    const sound = readFileSync(settings);
    // The server cannot start, and its last log line is the one that it writes when there is no space.
    await writeFile(settings, "shared_preload_libraries = 'No space left on device'\n");
    process.kill(Number.parseInt(readFileSync(join(cluster, 'postmaster.pid'), 'utf8'), 10), 'SIGKILL');
    const readiness = async () => {
      const { status, body } = await replyOf(client.get('/api/ready'));
      return `${status} ${(body as { reasons: readonly string[] }).reasons[0]}`;
    };
    const down = /^503 postgres does not answer: Error: The embedded Postgres has ended \d+ times .*no space left for its files/i;
    await eventually(async () => down.test(await readiness()));
    expectRefused(await asked(client), { error: MESSAGE, code: 'disk_full' });
    expectRefused(await uploaded(client, 'moon'));
    await writeFile(settings, sound);
    await eventually(async () => (await readiness()).startsWith('200'));
    expect((await asked(client)).status).toBe(200);
    expect((await uploaded(client, 'moon')).status).toBe(200);
  });
});
