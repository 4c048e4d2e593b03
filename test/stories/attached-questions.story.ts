import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { attachmentStream } from '../../src/resources/attachments/attachment.events.js';
import { newId } from '../../src/kernel/ids.js';
import type { DocumentFile } from '../../src/resources/documents/document.port.js';
import { append } from '../support/accounts.js';
import { readyAttachment, upload } from '../support/attachments.js';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, conversationIdIn } from '../support/client.js';
import { pdfFile, textFile } from '../support/document-files.js';
import { gifFile, jpegFile, pngFile, webpFile } from '../support/picture-files.js';
import { call } from '../support/scripted-model-server.js';
import { endOf } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Part = Readonly<{
  type: string;
  text?: string;
  image_url?: { url: string };
  file?: { filename: string; file_data: string };
}>;

const MODELS = `
models:
  words: { context_window: 8000 }
  sees: { supported_attachment_types: [image/png, image/jpeg], context_window: 64000 }
  reads: { supported_attachment_types: [image/png, application/pdf], context_window: 64000 }
  looks: { supported_attachment_types: [image/png, image/jpg, image/webp, image/gif], context_window: 64000 }
  narrow: { supported_attachment_types: [image/png], context_window: 6000 }
`;

/** Questions with files: what models are given of them, and which files a caller may attach. */
export function attachedQuestionsStory(makeBacking: MakeBacking): void {
  let world: World;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'models-'));
    const file = join(folder, 'models.yaml');
    await writeFile(file, MODELS);
    world = await openWorld({ MODEL_IDS: 'words,sees,reads,looks,narrow,offline', MODELS_FILE: file }, makeBacking);
  });
  afterAll(async () => {
    await world.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => world.model.reset());

  const ready = (file: DocumentFile) => readyAttachment(world.alice, file);
  const ask = (attachments: readonly string[], body: object = {}, client = world.alice) =>
    client.stream({ question: 'What is it?', attachments, ...body });
  const told = () => world.model.completions.at(-1)!.body.messages.at(-1)!.content;
  const toldParts = () => told() as readonly Part[];
  const noticesIn = ({ frames }: Awaited<ReturnType<typeof ask>>) =>
    frames.flatMap(({ data }) => (data.type === 'notice' ? [data['notice']] : []));
  const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');

  describe('a question with attachments', () => {
    it('puts their text before it, and the conversation lists them', async () => {
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

    it('is answered from them also by the built-in extractive model', async () => {
      const id = await ready(textFile('hours.txt', 'Tea is served at four. The garage opens at six.'));
      const reply = await ask([id], { model_id: 'offline', question: 'When is tea served?' });
      expect(answerIn(reply)).toMatch(/\n\nAccording to “hours.txt”: Tea is served at four\.$/);
    });

    it('makes them available to the prompt', async () => {
      const { alice } = world;
      const content = 'You were given {{ attachments.files[0].filename }}.';
      const { id } = (await replyOf(alice.post('/api/create_prompt', { name: 'Files', content }))).body as { id: string };
      await ask([await ready(textFile('hours.txt', 'Tea at four.'))], { prompt_id: id });
      expect(world.model.completions.at(-1)!.body.messages[0]!.content).toBe('You were given hours.txt.');
    });

    it('shows pictures to models that accept them, and says so for a model that does not', async () => {
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

    it('shows pictures of every accepted type, also to models that call JPEG image/jpg', async () => {
      const files = [pngFile('a.png'), jpegFile('b.jpg'), webpFile('c.webp'), gifFile('d.gif')];
      const ids = [];
      for (const file of files) ids.push(await ready(file));
      expect(noticesIn(await ask(ids, { model_id: 'looks' }))).toEqual([]);
      const shown = toldParts().flatMap(({ image_url }) => (image_url ? [image_url.url.split(';', 1)[0]] : []));
      expect(shown).toEqual(['data:image/png', 'data:image/jpeg', 'data:image/webp', 'data:image/gif']);
    });

    it('sends a PDF as it is, as pictures of its pages, or as text, depending on the model', async () => {
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

    it('stays within the model’s context window, and says what was left out', async () => {
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

    it('is ignored by /api/answer', async () => {
      const body = { question: 'What is it?', attachments: [await ready(textFile('a.txt', 'Tea.'))] };
      expect(await replyOf(world.alice.post('/api/answer', body))).toMatchObject({ status: 200 });
      expect(told()).toBe('What is it?');
      expect(await replyOf(world.alice.post('/api/answer', { ...body, attachments: ['unknown'] }))).toMatchObject({
        status: 200,
      });
    });

    it('continues after a pause with the same attachments', async () => {
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

    it('accepts only the caller’s own attachments', async () => {
      const id = await ready(textFile('secret.txt', 'Tea.'));
      const foreign = await ask([id], {}, world.bob);
      const unknown = await ask(['00000000-0000-4000-8000-000000000000'], {}, world.bob);
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      for (const other of ['', 'x', `${id} `]) expect((await ask([other])).text).toBe(unknown.text);
      expect((await ask(Array.from({ length: 26 }, (_, number) => `${number}`))).status).toBe(400);
      for (const other of [id, [7], {}]) expect((await ask(other as readonly string[])).status).toBe(400);
      expect(world.model.completions).toEqual([]);
    });

    it('accepts, with an owner’s key, attachments uploaded with a key of that owner or by the sender', async () => {
      const [one, other] = [await world.agent(), await world.agent()];
      const id = await readyAttachment(world.nobody, textFile('a.txt', 'Tea.'), { api_key: one.key });
      for (const body of [{ api_key: one.key }, { api_key: other.key }]) {
        expect((await ask([id], body, world.nobody)).status).toBe(200);
      }
      expect((await ask([id])).status).toBe(200);
      const bobs = await world.agent({}, world.bob);
      expect((await ask([id], { api_key: bobs.key }, world.nobody)).status).toBe(404);
      const ofBob = await readyAttachment(world.bob, textFile('b.txt', 'Tea.'), { api_key: one.key });
      expect((await ask([ofBob], { api_key: one.key }, world.bob)).status).toBe(200);
      expect((await ask([ofBob], { api_key: one.key }, world.nobody)).status).toBe(404);
    });

    it('is refused until they are parsed', async () => {
      const { task_id, attachment_id: known } = await upload(world.alice, textFile('a.txt', 'Tea.'));
      await endOf(world.nobody, task_id);
      const attachmentId = newId();
      const stream = attachmentStream(attachmentId);
      // Its task has ended before, so no worker parses it.
      const about = { taskId: task_id, ownerId: await world.idOf('alice'), filename: 'slow.txt', mimeType: 'text/plain' };
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
