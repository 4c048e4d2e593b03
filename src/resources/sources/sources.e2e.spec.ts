import { connect } from 'node:net';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { zipSync } from 'fflate';
import { Client } from '../../../test/support/client.js';
import { pdfFile, spreadsheetFile, textFile, wordFile } from '../../../test/support/document-files.js';
import { eventually } from '../../../test/support/eventually.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { SessionTokens } from '../identity/session-tokens.js';
import type { DocumentFile } from '../documents/document.port.js';
import { userIdOf } from '../../../test/support/user-id.js';

const SECRET = 'a secret for tests that is long enough';
const REFUSED = 'Missing required fields or files';

type Uploaded = { success: boolean; task_id: string; source_id: string };
type Status = { status: string; result: unknown };

let service: TestService;
let ann: Client;
let bob: Client;
let annToken: string;

beforeAll(async () => {
  service = await serviceForTests({
    AUTH_TYPE: 'session_jwt',
    UPLOAD_MAX_FILE_BYTES: '200000',
    UPLOAD_MAX_REQUEST_BYTES: '500000',
    UPLOAD_MAX_ARCHIVE_RATIO: '100',
  });
  const tokens = new SessionTokens(SECRET);
  annToken = await tokens.issue({ subject: 'ann', roles: [] });
  ann = new Client(service.url, { authorization: `Bearer ${annToken}` });
  bob = new Client(service.url, { authorization: `Bearer ${await tokens.issue({ subject: 'bob', roles: [] })}` });
});
afterAll(() => service.close());

function form(fields: Readonly<Record<string, string>>, ...files: DocumentFile[]): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  for (const { filename, bytes } of files) data.append('file', new Blob([bytes]), filename);
  return data;
}

const send = (body: FormData, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${service.url}/api/upload`, { method: 'POST', body, headers: { authorization: `Bearer ${annToken}`, ...headers } });

async function upload(name: string, ...files: DocumentFile[]): Promise<Uploaded> {
  const response = await send(form({ name, user: 'ann' }, ...files));
  expect(response.status).toBe(200);
  return (await response.json()) as Uploaded;
}

async function settled(taskId: string): Promise<Status> {
  let status: Status = { status: '', result: null };
  await eventually(async () => {
    status = await ann.json<Status>(`/api/task_status?task_id=${taskId}`);
    expect(status.status === 'SUCCESS' && status.result === null).toBe(false);
    return ['SUCCESS', 'FAILURE'].includes(status.status);
  });
  return status;
}

async function agentWith(...sourceIds: string[]): Promise<string> {
  const [source, ...sources] = sourceIds;
  const agent = {
    name: 'Agent',
    description: 'd',
    status: 'published',
    agent_type: 'classic',
    prompt_id: 'default',
    retriever: 'classic',
    chunks: 4,
    source,
    sources,
  };
  const response = await ann.post('/api/create_agent', agent);
  const { key } = (await response.json()) as { key: string };
  expect(key).toBeTruthy();
  return key;
}

const search = (body: unknown) => ann.post('/api/search', body);
const stagedUploads = () => readdir(join(service.dataDir, 'uploads')).catch(() => []);

describe('an upload', () => {
  it('of several files becomes a source that can be searched', async () => {
    const handbook = textFile(
      'handbook.md',
      '# Holidays\n\nEverybody has thirty days of leave a year.\n\n# Parking\n\nThe garage opens at six.',
    );
    const files = [
      handbook,
      pdfFile('fire.pdf', ['In case of fire use the stairs.']),
      wordFile('tea.docx', [
        ['heading', 'Tea'],
        ['text', 'Tea is served at four.'],
      ]),
      spreadsheetFile('rooms.xlsx', 'Rooms', [
        ['room', 'seats'],
        ['Aurora', 12],
      ]),
    ];
    const { task_id, source_id } = await upload('Office', ...files);
    expect(await settled(task_id)).toEqual({
      status: 'SUCCESS',
      result: {
        directory: `inputs/${await userIdOf(service, 'ann')}/Office`,
        formats: ['.md', '.pdf', '.docx', '.xlsx'],
        name_job: 'Office',
        filename: 'handbook.md, fire.pdf, tea.docx, rooms.xlsx',
        user: await userIdOf(service, 'ann'),
        limited: false,
      },
    });
    const key = await agentWith(source_id);
    for (const [question, text] of [
      ['How many days of leave do I have?', 'thirty days'],
      ['what to do when there is a fire', 'stairs'],
      ['When is tea served?', 'four'],
      ['How many seats has Aurora?', 'seats: 12'],
    ]) {
      const found = (await (await search({ question, api_key: key })).json()) as Record<string, string>[];
      expect(found[0]).toEqual({
        text: expect.stringContaining(text!) as unknown,
        title: expect.any(String) as unknown,
        source: 'Office',
      });
    }
    const structure = await ann.json(`/api/directory_structure?id=${source_id}`);
    expect(structure).toMatchObject({
      success: true,
      base_path: `inputs/${await userIdOf(service, 'ann')}/Office`,
      directory_structure: { 'fire.pdf': { type: 'application/pdf' } },
    });
    expect(await ann.json(`/api/get_chunks?id=${source_id}&per_page=1&page=2&path=handbook.md`)).toMatchObject({
      page: 2,
      per_page: 1,
      total: 1,
      chunks: [],
    });
    expect(await ann.json(`/api/get_chunks?id=${source_id}&search=stairs`)).toMatchObject({
      total: 1,
      chunks: [{ metadata: { filename: 'fire.pdf' } }],
    });
    expect(await stagedUploads()).toEqual([]);
  });

  it('of a file whose beginning is unreadable is refused with the file’s name, and nothing is stored', async () => {
    const refused = await send(form({ name: 'Refused' }, textFile('fine.txt', 'fine'), textFile('half.json', '{"a":')));
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ success: false, message: expect.stringContaining('half.json') as unknown }),
    ]);
    expect(JSON.stringify(await ann.json('/api/sources'))).not.toContain('Refused');
  });

  it('of a damaged file fails its task with the file’s name and is shown as failed', async () => {
    const damaged = textFile('broken.json', `{"a": "${'x'.repeat(5_000)}"`);
    const { task_id, source_id } = await upload('Damaged', textFile('fine.txt', 'fine'), damaged);
    expect(await settled(task_id)).toEqual({ status: 'FAILURE', result: expect.stringContaining('broken.json') as unknown });
    await eventually(async () =>
      JSON.stringify(await ann.json('/api/sources/paginated?search=Damaged')).includes('"ingestStatus":"failed"'),
    );
    const found = await search({ question: 'fine', api_key: await agentWith(source_id) });
    expect([await found.json(), found.headers.get('x-partial')]).toEqual([[], 'true']);
  });

  it('is replayed for a repeated Idempotency-Key, and refused if the content differs', async () => {
    const key = { 'idempotency-key': 'key 1' };
    const first = await send(form({ name: 'Once' }, textFile('a.txt', 'text')), key);
    const again = await send(form({ name: 'Once' }, textFile('a.txt', 'text')), key);
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 200, 'true']);
    expect(await again.json()).toEqual(await first.json());
    expect((await send(form({ name: 'Other' }, textFile('a.txt', 'text')), key)).status).toBe(422);
    expect((await send(form({ name: 'Once' }, textFile('a.txt', 'x')), { 'idempotency-key': 'k'.repeat(257) })).status).toBe(400);
    expect(await ann.json('/api/sources/paginated?search=Once')).toMatchObject({ total: 1 });
  });
});

describe('an upload is refused and nothing is stored', () => {
  const bomb: DocumentFile = { filename: 'bomb.docx', bytes: zipSync({ a: new Uint8Array(10_000_000) }, { level: 9 }) };
  const big = 'x'.repeat(150_000);
  it.each([
    ['without a name', form({}, textFile('a.txt', 'x')), 400, REFUSED],
    ['without a file', form({ name: 'n' }), 400, REFUSED],
    ['of an unsupported kind', form({ name: 'n' }, textFile('a.exe', 'x')), 415, 'a.exe'],
    ['whose content does not match its name', form({ name: 'n' }, textFile('a.pdf', 'x')), 415, 'a.pdf'],
    ['with one file too large', form({ name: 'n' }, textFile('a.txt', 'x'.repeat(200_001))), 413, '200000-byte'],
    ['too large as a whole', form({ name: 'n' }, ...[1, 2, 3, 4].map((n) => textFile(`${n}.txt`, big))), 413, '500000'],
    ['that would be too large unpacked', form({ name: 'n' }, bomb), 413, 'bomb.docx'],
    ['with an invalid config', form({ name: 'n', config: '{"colour":1}' }, textFile('a.txt', 'x')), 400, 'Invalid source config'],
  ])('%s', async (_, body, status, text) => {
    const response = await send(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ success: false, message: expect.stringContaining(text) as unknown });
    expect(await stagedUploads()).toEqual([]);
    expect(await ann.json('/api/sources/paginated?search=n&rows=100')).not.toMatchObject({ paginated: [{ name: 'n' }] });
  });

  it('without a token or if it is not a form', async () => {
    expect(
      (await fetch(`${service.url}/api/upload`, { method: 'POST', body: form({ name: 'n' }, textFile('a.txt', 'x')) })).status,
    ).toBe(401);
    expect((await ann.post('/api/upload', { name: 'n' })).status).toBe(400);
  });

  it('if the form is incomplete', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const opening = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf';
    for (const body of [opening, '--b', 'nothing of a form', '']) {
      const response = await ann.post('/api/upload', body, headers);
      expect([response.status, await response.json()]).toEqual([400, { success: false, message: expect.any(String) as unknown }]);
    }
    expect((await ann.post('/api/upload', opening, { 'content-type': 'multipart/form-data' })).status).toBe(400);
    expect(await stagedUploads()).toEqual([]);
  });

  it('if the connection breaks in the middle of a file', async () => {
    const before = await ann.json<{ total: number }>('/api/sources/paginated');
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const head = `POST /api/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${annToken}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 5000\r\n\r\n`;
    socket.write(
      `${head}--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nCut\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf of it`,
    );
    await eventually(async () => (await stagedUploads()).length === 1);
    socket.destroy();
    await eventually(async () => (await stagedUploads()).length === 0);
    expect((await ann.json<{ total: number }>('/api/sources/paginated')).total).toBe(before.total);
  });
});

describe('another user’s source', () => {
  it('gives the same replies as an unknown source', async () => {
    const { source_id, task_id } = await upload('Mine', textFile('a.txt', 'secret'));
    await settled(task_id);
    for (const path of [
      `/api/get_chunks?id=${source_id}`,
      `/api/directory_structure?id=${source_id}`,
      `/api/delete_old?source_id=${source_id}`,
    ]) {
      const [foreign, unknown] = [
        await bob.get(path),
        await ann.get(path.replace(source_id, '00000000-0000-4000-8000-000000000000')),
      ];
      expect([foreign.status, unknown.status]).toEqual([404, 404]);
      expect(await foreign.text()).toBe(await unknown.text());
    }
    expect(JSON.stringify(await bob.json('/api/sources'))).not.toContain(source_id);
  });
});

describe('deleting', () => {
  it('removes a source from lists and searches at once', async () => {
    const { source_id, task_id } = await upload('Short-lived', textFile('a.txt', 'ephemeral words'));
    await settled(task_id);
    const key = await agentWith(source_id);
    const before = await search({ question: 'ephemeral', api_key: key });
    expect([before.headers.get('x-partial'), await before.json()]).toEqual([null, [expect.anything()]]);
    expect(await ann.json(`/api/delete_old?source_id=${source_id}`)).toEqual({ success: true, status: 'ok' });
    const searched = await search({ question: 'ephemeral', api_key: key });
    expect([searched.headers.get('x-partial'), await searched.json()]).toEqual(['true', []]);
    const { frames } = await ann.stream({ question: 'ephemeral', api_key: key });
    const notices = frames.flatMap(({ data }) => (data.type === 'notice' ? [data['notice']] : []));
    expect(notices).toEqual([`A source could not be searched and was skipped: ${source_id}`]);
    expect(JSON.stringify(await ann.json('/api/sources'))).not.toContain(source_id);
    expect((await ann.get(`/api/delete_old?source_id=${source_id}`)).status).toBe(404);
  });

  it('accepts the id of the ingestion’s task', async () => {
    const { task_id } = await upload('By task', textFile('a.txt', 'x'));
    expect(await ann.json(`/api/delete_old?task_id=${task_id}`)).toMatchObject({ status: 'ok' });
    expect((await settled(task_id)).status).toMatch(/SUCCESS|FAILURE/);
    expect((await ann.get('/api/delete_old')).status).toBe(400);
  });
});

describe('lists', () => {
  it('begin with the entry for no source', async () => {
    const [first] = await ann.json<Record<string, unknown>[]>('/api/sources');
    expect(first).toEqual({
      name: 'Default',
      date: 'default',
      model: 'full-text',
      location: 'remote',
      tokens: '',
      retriever: 'classic',
    });
    expect(Object.keys((await ann.json<object[]>('/api/combine'))[0]!).sort()).toEqual([
      'date',
      'description',
      'docLink',
      'fullName',
      'language',
      'location',
      'model',
      'name',
      'version',
    ]);
  });

  it('limit the page to the last one', async () => {
    const page = await ann.json<{ currentPage: number; totalPages: number; paginated: unknown[] }>(
      '/api/sources/paginated?page=99&rows=1',
    );
    expect(page.currentPage).toBe(page.totalPages);
    expect(page.paginated).toHaveLength(1);
    expect(await bob.json('/api/sources/paginated')).toEqual({ total: 0, totalPages: 1, currentPage: 1, paginated: [] });
  });

  it.each(['page=x', 'page=0', 'page=-1', 'page=1.5', 'rows=abc', 'sort=colour', 'order=up', 'page=1&page=2'])(
    'refuse %s',
    async (query) => expect((await ann.get(`/api/sources/paginated?${query}`)).status).toBe(400),
  );
});

describe('a search', () => {
  it.each<[unknown, number, unknown]>([
    [{}, 400, { error: 'question is required' }],
    [{ question: '', api_key: 'k' }, 400, { error: 'question is required' }],
    [{ question: 'x' }, 400, { error: 'api_key is required' }],
    [{ question: 'x', api_key: '' }, 400, { error: 'api_key is required' }],
    [{ question: 'x', api_key: 'unknown' }, 401, { error: 'Invalid API key' }],
    [{ question: 'x', api_key: 'unknown', chunks: 0 }, 200, []],
    [{ question: 'x', api_key: 'unknown', chunks: -3 }, 200, []],
    [{ question: 'x', api_key: 'unknown', chunks: '3' }, 400, { error: 'chunks must be a number' }],
    [{ question: 'x', api_key: 'unknown', chunks: null }, 400, { error: 'chunks must be a number' }],
    [{ question: 'x', api_key: 'unknown', chunks: {} }, 400, { error: 'chunks must be a number' }],
    [{ question: ['x'], api_key: 'unknown' }, 400, { error: 'question must be a string' }],
    [{ question: 'x', api_key: 5 }, 400, { error: 'api_key must be a string' }],
    ['null', 400, { error: expect.any(String) }],
    ['[]', 400, { error: expect.any(String) }],
    ['"x"', 400, { error: expect.any(String) }],
    ['{', 400, { error: expect.any(String) }],
  ])('for %j is answered with status %i', async (body, status, expected) => {
    const response = await search(body);
    expect([response.status, await response.json()]).toEqual([status, expected]);
  });

  it('returns at most the requested number of chunks', async () => {
    const sections = Array.from({ length: 9 }, (_, index) => textFile(`${index}.txt`, `Apples of the kind ${index}.`));
    const { task_id, source_id } = await upload('Apples', ...sections);
    await settled(task_id);
    const key = await agentWith(source_id);
    const count = async (chunks?: number) =>
      ((await (await search({ question: 'apples', api_key: key, ...(chunks && { chunks }) })).json()) as unknown[]).length;
    expect([await count(), await count(2), await count(2.9), await count(1e9)]).toEqual([5, 2, 2, 9]);
  });
});

describe('the status of a task', () => {
  it('requires an id and is pending for an unknown one', async () => {
    expect((await ann.get('/api/task_status')).status).toBe(400);
    expect(await (await fetch(`${service.url}/api/task_status?task_id=unheard-of`)).json()).toEqual({
      status: 'PENDING',
      result: null,
    });
  });
});
