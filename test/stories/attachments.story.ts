import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { zipSync } from 'fflate';
import { BlobMissing, Blobs } from '../../src/kernel/blobs.js';
import { LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import { userStream } from '../../src/views/notifications/user.events.js';
import type { DocumentFile } from '../../src/resources/documents/document.port.js';
import { formOf, readyAttachment, send, type Uploaded, upload } from '../support/attachments.js';
import type { MakeBacking } from '../support/backing.js';
import { pdfFile, textFile } from '../support/document-files.js';
import { eventually } from '../support/eventually.js';
import { gifFile, jpegFile, pngFile, webpFile } from '../support/picture-files.js';
import { endOf } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const FILE_BYTES_MAX = 300_000;

/** Files to attach to questions: how they are uploaded, refused and parsed. */
export function attachmentsStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    const limits = {
      UPLOAD_MAX_FILE_BYTES: String(FILE_BYTES_MAX),
      UPLOAD_MAX_REQUEST_BYTES: '1000000',
      UPLOAD_MAX_ARCHIVE_RATIO: '50',
      UPLOAD_MAX_FILES: '6',
    };
    world = await openWorld(limits, makeBacking);
  });
  afterAll(() => world.close());

  const ask = (attachments: readonly string[]) => world.alice.stream({ question: 'What is it?', attachments });
  const settled = (taskId: string) => endOf(world.nobody, taskId);
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
    it('of one file returns a task, whose result names the attachment', async () => {
      const { status, body, headers } = await send(world.alice, formOf([textFile('Café.md', '# Tea')]));
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

    it('of several files returns a task each, and reports those that were refused', async () => {
      const bin = { filename: 'c.bin', bytes: new Uint8Array([0, 1, 2]) };
      const big = textFile('d.txt', 'x'.repeat(FILE_BYTES_MAX + 1));
      const files = [textFile('a.txt', 'one'), big, textFile('a.txt', 'two'), bin, pngFile('e.png')];
      const { status, body } = await send(world.alice, formOf(files));
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
      expect((await send(world.alice, formOf(files.slice(0, 1).concat(files[2]!)))).body).not.toHaveProperty('errors');
    });

    it.each([
      [pngFile('a.txt'), 'image/png'],
      [jpegFile('a.jpg'), 'image/jpeg'],
      [webpFile('a.png'), 'image/webp'],
      [gifFile('a.gif'), 'image/gif'],
      [pdfFile('a.docx', ['A page']), 'application/pdf'],
      [textFile('a.log', 'One line'), 'text/plain'],
    ])('has the type of its content, whatever its name: %j', async (file, mime_type) => {
      const { task_id, attachment_id } = await upload(world.alice, file);
      const result = { attachment_id, filename: file.filename, mime_type };
      expect(await settled(task_id)).toEqual({ status: 'SUCCESS', result });
    });

    it('stores only the file name of a path', async () => {
      for (const [given, kept] of [
        ['../../etc/passwd', 'passwd'],
        ['C:\\Users\\alice\\menu.txt', 'menu.txt'],
        [`${'x'.repeat(300)}.txt`, `${'x'.repeat(251)}.txt`],
      ] as const) {
        const { task_id } = await upload(world.alice, textFile(given, 'Tea.'));
        expect(await settled(task_id)).toMatchObject({ status: 'SUCCESS', result: { filename: kept } });
      }
    });

    const bomb: DocumentFile = { filename: 'bomb.docx', bytes: zipSync({ a: new Uint8Array(5_000_000) }, { level: 9 }) };
    const program: DocumentFile = { filename: 'a.exe', bytes: new Uint8Array([0x4d, 0x5a, 0x90, 0, 3, 0]) };
    const big = textFile('big.txt', 'x'.repeat(FILE_BYTES_MAX + 1));
    const whole = pngFile('half.png', 300, 300, { noise: true });
    const half = { filename: 'half.png', bytes: whole.bytes.slice(0, whole.bytes.length / 2) };
    it.each([
      ['half a picture', [half], 400, 'half.png'],
      ['half a JSON text', [textFile('half.json', '{"a":')], 400, 'half.json'],
      ['an unknown type', [program], 400, 'a.exe'],
      ['too many bytes', [big], 413, `File exceeds the ${FILE_BYTES_MAX}-byte upload limit`],
      ['a file that is too large when unpacked', [bomb], 413, 'bomb.docx'],
      ['two such files', [program, big], 400, 'No valid files to upload'],
      ['an empty file', [textFile('empty.txt', '')], 400, 'There is no text in empty.txt.'],
    ])('of nothing but %s is refused, and nothing is stored', async (_, files, status, text) => {
      const before = await attachmentsInLog();
      const reply = await send(world.alice, formOf(files));
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

    it('over the size limit of a request is refused as a whole', async () => {
      const files = [1, 2, 3, 4].map((number) => textFile(`${number}.txt`, 'x'.repeat(290_000)));
      const refused = { success: false, message: 'Request exceeds the 1000000-byte upload limit' };
      expect(await send(world.alice, formOf(files))).toMatchObject({ status: 413, body: refused });
      // Also one whose size is not declared.
      const { headers, body } = new Request('http://x', { method: 'POST', body: formOf(files) });
      const pieces = { method: 'POST', body, duplex: 'half', headers: { 'content-type': headers.get('content-type')! } };
      const { key } = await world.agent();
      const url = `${world.service.url}/api/store_attachment?api_key=${key}`;
      expect(await replyOf(fetch(url, pieces as RequestInit))).toMatchObject({ status: 413, body: refused });
      // Nor may a file that is discarded be endless.
      const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="endless.txt"\r\n\r\n';
      const endless = new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from(head)),
        pull: (controller) => controller.enqueue(Buffer.alloc(100_000, 'x')),
      });
      const sent = { ...pieces, body: endless, headers: { 'content-type': 'multipart/form-data; boundary=b' } };
      expect(await replyOf(fetch(url, sent as RequestInit))).toMatchObject({ status: 413, body: refused });
      expect(await staged()).toEqual([]);
    });

    it('over the file limit of a request is refused as a whole', async () => {
      const before = await attachmentsInLog();
      const files = Array.from({ length: 7 }, (_, number) => textFile(`${number}.txt`, 'text'));
      expect(await send(world.alice, formOf(files))).toMatchObject({ status: 413, body: { success: false } });
      expect([await attachmentsInLog(), await staged()]).toEqual([before, []]);
    });

    it('belongs to the signed-in user, or to the owner of the agent key, wherever the request has it', async () => {
      const { key } = await world.agent();
      const file = textFile('a.txt', 'text');
      const body = formOf([file]);
      body.append('api_key', key);
      expect((await send(world.nobody, body)).status).toBe(200);
      expect((await send(world.nobody, formOf([file]), {}, `?api_key=${key}`)).status).toBe(200);
      expect((await send(world.nobody, formOf([file]), { 'x-api-key': key })).status).toBe(200);
      expect((await send(world.alice, formOf([file], { api_key: 'unknown' }))).status).toBe(200);
      const refused = (message: string) => ({ success: false, message });
      for (const [reply, status, message] of [
        [await send(world.nobody, formOf([file])), 401, 'Authentication required'],
        [await send(world.nobody, formOf([file], { api_key: 'unknown' })), 401, 'Invalid API key'],
        [await send(world.nobody, formOf([file]), {}, '?api_key=unknown'), 401, 'Invalid API key'],
        [await send(world.nobody, formOf([])), 400, 'Missing file(s)'],
        [await send(world.alice, formOf([], { file: 'no file' })), 400, 'Missing file(s)'],
        [await replyOf(world.alice.post('/api/store_attachment', {})), 400, 'Missing file(s)'],
      ] as const) {
        expect(reply).toMatchObject({ status, body: refused(message) });
      }
      expect((await send(world.nobody, formOf([file], { api_key: key }), { authorization: 'Bearer bad' })).status).toBe(401);
      const { key: shop } = await world.agent({ config: { restrict_origins: true, allowed_origins: ['https://shop.example'] } });
      const from = (origin: string) => send(world.nobody, formOf([file], { api_key: shop }), { origin });
      expect([(await from('https://other.example')).status, (await from('https://shop.example')).status]).toEqual([403, 200]);
      expect(await staged()).toEqual([]);
    });

    it('is parsed once it was accepted, even if the process ends right afterwards', async () => {
      const tasks: string[] = [];
      for (const name of ['one', 'two', 'three']) tasks.push((await upload(world.alice, pdfFile(`${name}.pdf`, [name]))).task_id);
      await world.service.restart();
      for (const taskId of tasks) expect(await settled(taskId)).toMatchObject({ status: 'SUCCESS' });
    });

    it('of the same file twice makes two attachments with one blob', async () => {
      const file = textFile('twice.txt', 'the same text');
      const [one, other] = [await readyAttachment(world.alice, file), await readyAttachment(world.alice, file)];
      expect(one).not.toBe(other);
      await ask([one, other]);
      expect(String(world.model.completions.at(-1)!.body.messages.at(-1)!.content).split('the same text')).toHaveLength(3);
      const found: unknown[] = [];
      for (const id of [one, other]) {
        for await (const page of world.backing.store.read(`attachment-${id}`)) {
          found.push((JSON.parse(page[0]!.data) as { blob: { sha256: string } }).blob.sha256);
        }
      }
      expect(found).toEqual([sha256(file.bytes), sha256(file.bytes)]);
    });

    it('of a damaged file fails with a reason, which its owner is notified of', async () => {
      const damaged = textFile('broken.json', `{"a": "${'x'.repeat(5_000)}"`);
      const { task_id, attachment_id } = await upload(world.alice, damaged);
      expect(await settled(task_id)).toEqual({ status: 'FAILURE', result: expect.stringContaining('broken.json') as unknown });
      await eventually(async () => (await toldTo('alice')).some(({ type }) => type === 'attachment.failed'));
      await eventually(async () => (await ask([attachment_id])).status === 409);
      expect((await ask([attachment_id])).text).toContain('"code":"attachment_failed"');
    });

    const toldTo = async (subject: string): Promise<Record<string, unknown>[]> => {
      const events: Record<string, unknown>[] = [];
      for await (const page of world.backing.store.read(userStream(await world.idOf(subject)))) {
        events.push(...page.map(({ data }) => JSON.parse(data) as Record<string, unknown>));
      }
      return events;
    };

    it('notifies the tabs of its owner while it is parsed', async () => {
      const id = await readyAttachment(await world.as('carol'), textFile('told.txt', 'Tea at four.'));
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

  describe('an interrupted upload', () => {
    const text = 'All of it or nothing. '.repeat(10_000);
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="cut.txt"\r\n\r\n';
    const whole = `${head}${text}\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n\r\nmore\r\n--b--\r\n`;
    const cuts = [Math.ceil(whole.length / 100), Math.floor(whole.length / 2), whole.lastIndexOf('--b--')] as const;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };

    it.each(cuts)('leaves nothing behind when the form ends at %d bytes', async (at) => {
      const before = await attachmentsInLog();
      const reply = await replyOf(world.alice.post('/api/store_attachment', whole.slice(0, at), headers));
      expect(reply).toMatchObject({ status: 400, body: { success: false } });
      expect([await attachmentsInLog(), await staged()]).toEqual([before, []]);
      await expect(blobs().get(sha256(text))).rejects.toBeInstanceOf(BlobMissing);
    });

    it.each(cuts)('leaves nothing behind when the connection is cut at %d bytes', async (at) => {
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
}
