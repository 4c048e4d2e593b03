import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { zipSync } from 'fflate';
import { LOG_START } from '../../src/kernel/event-store.js';
import { attachmentStream } from '../../src/attachments/attachment.events.js';
import { newId } from '../../src/kernel/ids.js';
import { BlobMissing, Blobs } from '../../src/kernel/blobs.js';
import { userStream } from '../../src/realtime/user.events.js';
import type { DocumentFile } from '../../src/sources/document.port.js';
import { append } from '../support/accounts.js';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, type Client, conversationIdIn } from '../support/client.js';
import { pdfFile, textFile } from '../support/document-files.js';
import { eventually } from '../support/eventually.js';
import { jpegFile, pngFile } from '../support/picture-files.js';
import { call } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Part = Readonly<{
  type: string;
  text?: string;
  image_url?: { url: string };
  file?: { filename: string; file_data: string };
}>;
type Status = Readonly<{ status: string; result: unknown }>;
type Uploaded = Readonly<{ success: boolean; task_id: string; attachment_id: string; message: string }>;

const MODELS = `
models:
  words: { context_window: 8000 }
  sees: { supported_attachment_types: [image/png, image/jpeg], context_window: 64000 }
  reads: { supported_attachment_types: [image/png, application/pdf], context_window: 64000 }
  narrow: { supported_attachment_types: [image/png], context_window: 6000 }
`;
const FILE_BYTES_MAX = 300_000;

/** Files that go with questions: how they come in, what models are given of them, and who may refer to them. */
export function attachmentsStory(makeBacking: MakeBacking): void {
  let world: World;
  let carol: Client;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'models-'));
    const file = join(folder, 'models.yaml');
    await writeFile(file, MODELS);
    const limits = {
      UPLOAD_MAX_FILE_BYTES: String(FILE_BYTES_MAX),
      UPLOAD_MAX_REQUEST_BYTES: '1000000',
      UPLOAD_MAX_ARCHIVE_RATIO: '50',
      UPLOAD_MAX_FILES: '6',
    };
    world = await openWorld({ MODEL_IDS: 'words,sees,reads,narrow,offline', MODELS_FILE: file, ...limits }, makeBacking);
    carol = await world.as('carol');
  });
  afterAll(async () => {
    await world.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => world.model.reset());

  const form = (files: readonly DocumentFile[], fields: Readonly<Record<string, string>> = {}): FormData => {
    const data = new FormData();
    for (const { filename, bytes } of files) data.append('file', new Blob([bytes]), filename);
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return data;
  };
  const send = (client: Client, body: FormData, headers: Readonly<Record<string, string>> = {}, query = '') =>
    replyOf(client.send(`/api/store_attachment${query}`, body, headers));
  const upload = async (file: DocumentFile, client = world.alice, fields = {}): Promise<Uploaded> => {
    const { status, body } = await send(client, form([file], fields));
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as Uploaded;
  };
  const settled = async (taskId: string): Promise<Status> => {
    let status: Status = { status: '', result: null };
    await eventually(async () => {
      status = await world.nobody.json<Status>(`/api/task_status?task_id=${taskId}`);
      return ['SUCCESS', 'FAILURE'].includes(status.status);
    });
    return status;
  };
  const ready = async (file: DocumentFile, client = world.alice, fields = {}): Promise<string> => {
    const { task_id, attachment_id } = await upload(file, client, fields);
    expect(await settled(task_id)).toMatchObject({ status: 'SUCCESS' });
    return attachment_id;
  };
  const ask = (attachments: readonly string[], body: object = {}, client = world.alice) =>
    client.stream({ question: 'What is it?', attachments, ...body });
  const told = () => world.model.completions.at(-1)!.body.messages.at(-1)!.content;
  const toldParts = () => told() as readonly Part[];
  const noticesIn = ({ frames }: Awaited<ReturnType<typeof ask>>) =>
    frames.flatMap(({ data }) => (data.type === 'notice' ? [data['notice']] : []));
  const staged = async () =>
    (await readdir(join(world.service.dataDir, 'uploads')).catch(() => [])).filter((name) => name.startsWith('upload-'));
  const attachmentsInLog = async (): Promise<number> => {
    const streams = new Set<string>();
    for await (const { events } of world.backing.store.readAll({ after: LOG_START, filter: { categories: ['attachment'] } })) {
      for (const { stream } of events) streams.add(stream);
    }
    return streams.size;
  };
  const blobs = () => world.service.service.app.get(Blobs, { strict: false });
  const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

  describe('an upload', () => {
    it('of one file is a task, whose result names the attachment', async () => {
      const { status, body, headers } = await send(world.alice, form([textFile('Café.md', '# Tea')]));
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          success: true,
          task_id: expect.any(String) as unknown,
          attachment_id: expect.any(String) as unknown,
          message: expect.any(String) as unknown,
        },
      });
      expect(headers.get('x-position')).toMatch(/^\d+$/);
      const { task_id, attachment_id } = body as Uploaded;
      expect(await settled(task_id)).toEqual({
        status: 'SUCCESS',
        result: { attachment_id, filename: 'Café.md', mime_type: 'text/markdown' },
      });
      expect(await staged()).toEqual([]);
    });

    it('of several files is a task each, and tells of those that were not taken', async () => {
      const bin = { filename: 'c.bin', bytes: new Uint8Array([0, 1, 2]) };
      const big = textFile('d.txt', 'x'.repeat(FILE_BYTES_MAX + 1));
      const files = [textFile('a.txt', 'one'), big, textFile('a.txt', 'two'), bin, pngFile('e.png')];
      const { status, body } = await send(world.alice, form(files));
      const task = (filename: string, upload_index: number) => ({
        task_id: expect.any(String) as unknown,
        filename,
        attachment_id: expect.any(String) as unknown,
        upload_index,
      });
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          success: true,
          tasks: [task('a.txt', 0), task('a.txt', 2), task('e.png', 4)],
          message: expect.any(String) as unknown,
          errors: [
            { upload_index: 1, filename: 'd.txt', error: `File exceeds the ${FILE_BYTES_MAX}-byte upload limit` },
            { upload_index: 3, filename: 'c.bin', error: expect.stringContaining('c.bin') as unknown },
          ],
        },
      });
      for (const { task_id } of (body as { tasks: Uploaded[] }).tasks) expect((await settled(task_id)).status).toBe('SUCCESS');
      expect((await send(world.alice, form(files.slice(0, 1).concat(files[2]!)))).body).not.toHaveProperty('errors');
    });

    const bomb: DocumentFile = { filename: 'bomb.docx', bytes: zipSync({ a: new Uint8Array(5_000_000) }, { level: 9 }) };
    const program: DocumentFile = { filename: 'a.exe', bytes: new Uint8Array([0x4d, 0x5a, 0x90, 0, 3, 0]) };
    const big = textFile('big.txt', 'x'.repeat(FILE_BYTES_MAX + 1));
    it.each([
      ['a kind nobody can read', [program], 400, 'a.exe'],
      ['too many bytes', [big], 413, `File exceeds the ${FILE_BYTES_MAX}-byte upload limit`],
      ['too many bytes once it is unpacked', [bomb], 413, 'bomb.docx'],
      ['either', [program, big], 400, 'No valid files to upload'],
    ])('of nothing but %s is refused, and nothing is kept', async (_, files, status, text) => {
      const before = await attachmentsInLog();
      const reply = await send(world.alice, form(files));
      expect(reply).toMatchObject({
        status,
        body: {
          success: false,
          message: expect.stringContaining(text) as unknown,
          errors: files.map(({ filename }) => ({ filename })),
        },
      });
      expect([await attachmentsInLog(), await staged()]).toEqual([before, []]);
    });

    it('of more than a request may have is refused as a whole', async () => {
      const files = [1, 2, 3, 4].map((number) => textFile(`${number}.txt`, 'x'.repeat(290_000)));
      const refused = { success: false, message: 'Request exceeds the 1000000-byte upload limit' };
      expect(await send(world.alice, form(files))).toMatchObject({ status: 413, body: refused });
      // Also one that does not say beforehand how much it is.
      const { headers, body } = new Request('http://x', { method: 'POST', body: form(files) });
      const pieces = { method: 'POST', body, duplex: 'half', headers: { 'content-type': headers.get('content-type')! } };
      const { key } = await world.agent();
      const url = `${world.service.url}/api/store_attachment?api_key=${key}`;
      expect(await replyOf(fetch(url, pieces as RequestInit))).toMatchObject({ status: 413, body: refused });
      expect(await staged()).toEqual([]);
    });

    it('of more files than a request may have is refused as a whole', async () => {
      const before = await attachmentsInLog();
      const files = Array.from({ length: 7 }, (_, number) => textFile(`${number}.txt`, 'text'));
      expect(await send(world.alice, form(files))).toMatchObject({ status: 413, body: { success: false } });
      expect([await attachmentsInLog(), await staged()]).toEqual([before, []]);
    });

    it('is somebody’s: a signed-in user’s, or that of the owner of an agent’s key, wherever in the request it stands', async () => {
      const { key } = await world.agent();
      const file = textFile('a.txt', 'text');
      const body = form([file]);
      body.append('api_key', key);
      expect((await send(world.nobody, body)).status).toBe(200);
      expect((await send(world.nobody, form([file]), {}, `?api_key=${key}`)).status).toBe(200);
      expect((await send(world.nobody, form([file]), { 'x-api-key': key })).status).toBe(200);
      expect((await send(world.alice, form([file], { api_key: 'unknown' }))).status).toBe(200);
      const refused = (message: string) => ({ success: false, message });
      for (const [reply, status, message] of [
        [await send(world.nobody, form([file])), 401, 'Authentication required'],
        [await send(world.nobody, form([file], { api_key: 'unknown' })), 401, 'Invalid API key'],
        [await send(world.nobody, form([file]), {}, '?api_key=unknown'), 401, 'Invalid API key'],
        [await send(world.nobody, form([])), 400, 'Missing file(s)'],
        [await send(world.alice, form([], { file: 'no file' })), 400, 'Missing file(s)'],
        [await replyOf(world.alice.post('/api/store_attachment', {})), 400, 'Missing file(s)'],
      ] as const) {
        expect(reply).toMatchObject({ status, body: refused(message) });
      }
      expect((await send(world.nobody, form([file], { api_key: key }), { authorization: 'Bearer bad' })).status).toBe(401);
      const { key: shop } = await world.agent({ config: { restrict_origins: true, allowed_origins: ['https://shop.example'] } });
      const from = (origin: string) => send(world.nobody, form([file], { api_key: shop }), { origin });
      expect([(await from('https://other.example')).status, (await from('https://shop.example')).status]).toEqual([403, 200]);
      expect(await staged()).toEqual([]);
    });

    it('that was accepted is read, also when the process ends right after it', async () => {
      const tasks: string[] = [];
      for (const name of ['one', 'two', 'three']) tasks.push((await upload(pdfFile(`${name}.pdf`, [name]))).task_id);
      await world.service.restart();
      for (const taskId of tasks) expect(await settled(taskId)).toMatchObject({ status: 'SUCCESS' });
    });

    it('of the same file twice makes two attachments of one blob', async () => {
      const file = textFile('twice.txt', 'the same text');
      const [one, other] = [await ready(file), await ready(file)];
      expect(one).not.toBe(other);
      await ask([one, other]);
      expect(String(told()).split('the same text')).toHaveLength(3);
      const found: unknown[] = [];
      for (const id of [one, other]) {
        for await (const page of world.backing.store.read(`attachment-${id}`)) {
          found.push((JSON.parse(page[0]!.data) as { blob: { sha256: string } }).blob.sha256);
        }
      }
      expect(found).toEqual([sha256(file.bytes), sha256(file.bytes)]);
    });

    it('of a damaged file fails by a reason, and its owner is told so', async () => {
      const { task_id, attachment_id } = await upload(textFile('broken.json', '{"a":'));
      expect(await settled(task_id)).toEqual({ status: 'FAILURE', result: expect.stringContaining('broken.json') as unknown });
      const whole = pngFile('half.png', 300, 300, { noise: true });
      const half = { filename: 'half.png', bytes: whole.bytes.slice(0, whole.bytes.length / 2) };
      expect(await settled((await upload(half)).task_id)).toMatchObject({ status: 'FAILURE' });
      await eventually(async () => (await toldTo('alice')).some(({ type }) => type === 'attachment.failed'));
      await eventually(async () => (await ask([attachment_id])).status === 409);
      expect((await ask([attachment_id])).text).toContain('"code":"attachment_failed"');
    });

    const toldTo = async (userId: string): Promise<Record<string, unknown>[]> => {
      const events: Record<string, unknown>[] = [];
      for await (const page of world.backing.store.read(userStream(userId))) {
        events.push(...page.map(({ data }) => JSON.parse(data) as Record<string, unknown>));
      }
      return events;
    };

    it('is told to the tabs of its owner as it is read', async () => {
      const id = await ready(textFile('told.txt', 'Tea at four.'), carol);
      const told = async () => (await toldTo('carol')).filter(({ scope }) => (scope as { id: string }).id === id);
      await eventually(async () => (await told()).some(({ type }) => type === 'attachment.completed'));
      const [first, ...rest] = await told();
      const payload = { attachment_id: id, filename: 'told.txt' };
      expect(first).toMatchObject({ type: 'attachment.queued', scope: { kind: 'attachment', id }, payload });
      const last = rest.pop()!;
      expect(last['payload']).toEqual({ ...payload, token_count: 4, mime_type: 'text/plain' });
      for (const { type, payload: progress } of rest) {
        expect(type).toBe('attachment.progress');
        expect([
          { ...payload, current: 30, stage: 'processing' },
          { ...payload, current: 80, stage: 'storing' },
        ]).toContainEqual(progress);
      }
    });
  });

  describe('an upload that breaks off', () => {
    const text = 'All of it or nothing. '.repeat(10_000);
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="cut.txt"\r\n\r\n';
    const whole = `${head}${text}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n\r\nmore\r\n--b--\r\n`;
    const cuts = [Math.ceil(whole.length / 100), Math.floor(whole.length / 2), whole.lastIndexOf('--b--')] as const;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };

    it.each(cuts)('at %d bytes leaves nothing behind', async (at) => {
      const before = await attachmentsInLog();
      const reply = await replyOf(world.alice.post('/api/store_attachment', whole.slice(0, at), headers));
      expect(reply).toMatchObject({ status: 400, body: { success: false } });
      expect([await attachmentsInLog(), await staged()]).toEqual([before, []]);
      await expect(blobs().get(sha256(text))).rejects.toBeInstanceOf(BlobMissing);
    });

    it.each(cuts)('with its connection at %d bytes leaves nothing behind', async (at) => {
      const before = await attachmentsInLog();
      const { key } = await world.agent();
      const path = `/api/store_attachment?api_key=${key}`;
      const sending = request(world.service.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-length': whole.length },
      });
      const ended = new Promise((resolve) => sending.once('error', resolve));
      sending.write(whole.slice(0, at));
      await eventually(async () => (await staged()).length === 1);
      sending.destroy();
      await ended;
      await eventually(async () => (await staged()).length === 0);
      expect(await attachmentsInLog()).toBe(before);
      await expect(blobs().get(sha256(text))).rejects.toBeInstanceOf(BlobMissing);
    });
  });

  describe('a question with attachments', () => {
    it('brings their text before it, and the conversation names them', async () => {
      const ids = [await ready(textFile('a <b>.txt', 'Tea at four.')), await ready(textFile('b.csv', 'cup,price\nsmall,3'))];
      const reply = await ask([...ids, ids[0]!], { model_id: 'words' });
      expect(reply.frames.at(-1)!.data.type).toBe('end');
      expect(noticesIn(reply)).toEqual([]);
      expect(told()).toBe(
        '<attachment name="a _b_.txt">\nTea at four.\n</attachment>\n\n<attachment name="b.csv">\ncup: small, price: 3\n</attachment>\n\nWhat is it?',
      );
      const { queries } = await world.alice.json<{ queries: Record<string, unknown>[] }>(
        `/api/get_single_conversation?id=${conversationIdIn(reply)}`,
      );
      expect(queries[0]!['attachments']).toEqual([
        { id: ids[0], fileName: 'a <b>.txt' },
        { id: ids[1], fileName: 'b.csv' },
      ]);
      const next = await ask([], { conversation_id: conversationIdIn(reply) });
      expect(next.frames.at(-1)!.data.type).toBe('end');
      const after = await world.alice.json<{ queries: object[] }>(`/api/get_single_conversation?id=${conversationIdIn(reply)}`);
      expect(after.queries[1]).not.toHaveProperty('attachments');
    });

    it('is answered from them also by the model that quotes', async () => {
      const id = await ready(textFile('hours.txt', 'Tea is served at four. The garage opens at six.'));
      const reply = await ask([id], { model_id: 'offline', question: 'When is tea served?' });
      expect(answerIn(reply)).toBe('According to “hours.txt”: Tea is served at four.');
    });

    it('lets a prompt name them', async () => {
      const { alice } = world;
      const content = 'You were given {{ attachments.files[0].filename }}.';
      const { id } = (await replyOf(alice.post('/api/create_prompt', { name: 'Files', content }))).body as { id: string };
      await ask([await ready(textFile('hours.txt', 'Tea at four.'))], { prompt_id: id });
      expect(world.model.completions.at(-1)!.body.messages[0]!.content).toBe('You were given hours.txt.');
    });

    it('shows pictures to models that take them, and says so where one does not', async () => {
      const [png, jpeg] = [pngFile('a.png'), jpegFile('b.jpg')];
      const ids = [await ready(png), await ready(jpeg)];
      await ask(ids, { model_id: 'sees' });
      const dataUrl = (mime: string, { bytes }: DocumentFile) => `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`;
      expect(toldParts()).toEqual([
        { type: 'text', text: 'Attached picture: a.png' },
        { type: 'image_url', image_url: { url: dataUrl('image/png', png) } },
        { type: 'text', text: 'Attached picture: b.jpg' },
        { type: 'image_url', image_url: { url: dataUrl('image/jpeg', jpeg) } },
        { type: 'text', text: 'What is it?' },
      ]);
      const skipped = await ask(ids, { model_id: 'reads' });
      expect(toldParts().map(({ type }) => type)).toEqual(['text', 'image_url', 'text']);
      expect(noticesIn(skipped)).toEqual(['b.jpg was skipped: the model takes no pictures of its kind.']);
      expect(noticesIn(await ask(ids, { model_id: 'words' }))).toHaveLength(2);
      expect(told()).toBe('What is it?');
    });

    it('gives a PDF as itself, as pictures of its pages, or as text, as the model takes it', async () => {
      const pdf = pdfFile('menu.pdf', ['Tea three euros', 'Coffee four euros']);
      const ids = [await ready(pdf)];
      await ask(ids, { model_id: 'reads' });
      const file = {
        filename: 'menu.pdf',
        file_data: `data:application/pdf;base64,${Buffer.from(pdf.bytes).toString('base64')}`,
      };
      expect(toldParts()).toEqual([
        { type: 'file', file },
        { type: 'text', text: 'What is it?' },
      ]);
      await ask(ids, { model_id: 'sees' });
      expect(toldParts().map(({ type }) => type)).toEqual(['text', 'image_url', 'image_url', 'text']);
      expect(toldParts()[0]!.text).toBe('Attached document: menu.pdf, all its pages as pictures');
      expect(toldParts()[1]!.image_url!.url).toMatch(/^data:image\/png;base64,iVBOR/);
      const asText = '<attachment name="menu.pdf">\nTea three euros\n\nCoffee four euros\n</attachment>\n\nWhat is it?';
      for (const model_id of ['words', 'narrow']) {
        expect(noticesIn(await ask(ids, { model_id }))).toEqual([]);
        const content = told();
        if (model_id === 'words') expect(content).toBe(asText);
        else expect((content as Part[]).filter(({ type }) => type === 'image_url')).toHaveLength(1);
      }
    });

    it('stays within the model’s window, and says what was left out', async () => {
      const ids = [
        await ready(textFile('long.txt', 'one two three four five\n'.repeat(8_000))),
        await ready(textFile('more.txt', 'more')),
      ];
      const reply = await ask(ids, { model_id: 'words' });
      expect(noticesIn(reply)).toEqual([
        'long.txt was too long: only the beginning of it was read.',
        'more.txt was skipped: there was no room for it.',
      ]);
      expect(reply.frames[1]!.data.type).toBe('notice');
      expect(String(told()).length).toBeLessThan(8_000 * 3.5);
      expect(String(told()).length).toBeGreaterThan(10_000);
    });

    it('is not what /api/answer takes: there they are ignored', async () => {
      const body = { question: 'What is it?', attachments: [await ready(textFile('a.txt', 'Tea.'))] };
      expect(await replyOf(world.alice.post('/api/answer', body))).toMatchObject({ status: 200 });
      expect(told()).toBe('What is it?');
      expect(await replyOf(world.alice.post('/api/answer', { ...body, attachments: ['unknown'] }))).toMatchObject({
        status: 200,
      });
    });

    it('goes on after a pause with what it was given before', async () => {
      const id = await ready(pngFile('a.png'));
      const client_tools = [
        { type: 'function', function: { name: 'measure', description: 'Measures', parameters: { type: 'object' } } },
      ];
      world.model.next([call('c1', 'measure', {})]);
      const paused = await ask([id], { model_id: 'sees', client_tools });
      expect(paused.frames.map(({ data }) => data.type)).toContain('tool_calls_pending');
      const tool_actions = [{ call_id: 'c1', result: '3 cm' }];
      const resumed = await world.alice.stream({ conversation_id: conversationIdIn(paused), tool_actions });
      expect(resumed.frames.at(-1)!.data.type).toBe('end');
      const { messages } = world.model.completions.at(-1)!.body;
      expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
      expect((messages[1]!.content as Part[]).map(({ type }) => type)).toEqual(['text', 'image_url', 'text']);
    });

    it('may refer to one’s own, and to no others', async () => {
      const id = await ready(textFile('secret.txt', 'Tea.'));
      const foreign = await ask([id], {}, world.bob);
      const unknown = await ask(['00000000-0000-4000-8000-000000000000'], {}, world.bob);
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      for (const other of ['', 'x', `${id} `]) expect((await ask([other])).text).toBe(unknown.text);
      expect((await ask(Array.from({ length: 26 }, (_, number) => `${number}`))).status).toBe(400);
      expect(world.model.completions).toEqual([]);
    });

    it('asked with a key of the owner may refer to what came with one, and to what its sender uploaded', async () => {
      const [one, other] = [await world.agent(), await world.agent()];
      const id = await ready(textFile('a.txt', 'Tea.'), world.nobody, { api_key: one.key });
      for (const body of [{ api_key: one.key }, { api_key: other.key }]) {
        expect((await ask([id], body, world.nobody)).status).toBe(200);
      }
      expect((await ask([id])).status).toBe(200);
      const bobs = await world.agent({}, world.bob);
      expect((await ask([id], { api_key: bobs.key }, world.nobody)).status).toBe(404);
      const ofBob = await ready(textFile('b.txt', 'Tea.'), world.bob, { api_key: one.key });
      expect((await ask([ofBob], { api_key: one.key }, world.bob)).status).toBe(200);
      expect((await ask([ofBob], { api_key: one.key }, world.nobody)).status).toBe(404);
    });

    it('has to wait until they are read', async () => {
      const { task_id, attachment_id: known } = await upload(textFile('a.txt', 'Tea.'));
      await settled(task_id);
      const attachmentId = newId();
      const stream = attachmentStream(attachmentId);
      // Its task has ended before, so nobody comes to read it.
      const about = { taskId: task_id, ownerId: 'alice', filename: 'slow.txt', mimeType: 'text/plain' };
      const stored = { attachmentId, ...about, blob: { sha256: sha256('slow'), size: 4 } };
      await append(world.backing.store, stream, { type: 'AttachmentStored', data: stored });
      const early = await ask([known, attachmentId]);
      expect([early.status, early.text]).toEqual([409, expect.stringContaining('"code":"attachment_not_ready"')]);
      expect((await ask([attachmentId], {}, world.bob)).status).toBe(404);
      const parsed = { attachmentId, text: { text: 'Slow.' }, tokens: 2, isCut: false, pages: null, pictures: [] };
      await append(world.backing.store, stream, { type: 'AttachmentParsed', data: parsed });
      expect((await ask([known, attachmentId])).status).toBe(200);
      expect(told()).toContain('Slow.');
    });
  });
}
