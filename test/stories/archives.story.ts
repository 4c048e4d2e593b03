import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

type Added = Readonly<{ task_id: string; source_id: string }>;
type Status = Readonly<{ status: string; result: unknown }>;

const zipOf = (entries: Readonly<Record<string, string | Uint8Array>>): Uint8Array =>
  zipSync(
    Object.fromEntries(Object.entries(entries).map(([path, data]) => [path, typeof data === 'string' ? strToU8(data) : data])),
  );

/** Zip files as sources: questions find the documents inside, and unreadable documents and bombs are reported. */
export function archivesStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    const limits = { UPLOAD_MAX_ARCHIVE_BYTES: '2000000', UPLOAD_MAX_ARCHIVE_FILES: '20', UPLOAD_MAX_ARCHIVE_RATIO: '500' };
    world = await openWorld(limits, makeBacking);
  });
  afterAll(() => world.close());

  const upload = (...files: readonly (readonly [name: string, bytes: Uint8Array])[]): Promise<Reply> => {
    const form = new FormData();
    form.append('name', 'Archive');
    for (const [name, bytes] of files) form.append('file', new Blob([bytes]), name);
    return replyOf(world.alice.send('/api/upload', form));
  };
  const ended = async (taskId: string): Promise<Status> => {
    let status: Status = { status: '', result: null };
    await eventually(async () => {
      status = await world.alice.json<Status>(`/api/task_status?task_id=${taskId}`);
      return ['SUCCESS', 'FAILURE'].includes(status.status);
    });
    return status;
  };

  it('are used for answers, show their folders, and list the files that were not read', async () => {
    const inner = zipOf({ 'tides.md': '# Tides\n\nThe ferry waits for high tide at noon.' });
    const bytes = zipOf({
      'manual/ferry.md': '# Ferry\n\nA ticket for the ferry costs 12 crowns.',
      'manual/photo.png': 'no text',
      'extra.zip': inner,
      '../../escape.md': 'x',
    });
    const { status, body } = await upload(['ferry.zip', bytes]);
    expect(status).toBe(200);
    const { task_id, source_id } = body as Added;
    expect(await ended(task_id)).toEqual({
      status: 'SUCCESS',
      result: {
        directory: `inputs/${await world.idOf('alice')}/Archive`,
        formats: ['.md'],
        name_job: 'Archive',
        filename: 'ferry.zip',
        user: await world.idOf('alice'),
        limited: false,
        warnings: [
          'ferry.zip/manual/photo.png: Files of this kind are not accepted.',
          'ferry.zip/../../escape.md: Its path leads out of the archive, or is too long.',
        ],
      },
    });
    const { directory_structure } = await world.alice.json<{ directory_structure: object }>(
      `/api/directory_structure?id=${source_id}`,
    );
    const shown = {
      type: 'text/markdown',
      size_bytes: expect.any(Number) as unknown,
      token_count: expect.any(Number) as unknown,
    };
    expect(directory_structure).toEqual({ manual: { 'ferry.md': shown }, extra: { 'tides.md': shown } });
    const { key } = await world.agent({ sources: [source_id] });
    const answer = await world.nobody.post('/api/answer', { question: 'What does a ticket for the ferry cost?', api_key: key });
    const { sources } = (await answer.json()) as { sources: unknown };
    expect(JSON.stringify(sources)).toContain('12 crowns');
    const again = await replyOf(world.alice.post('/api/sources/reingest', { source_id }));
    expect((await ended((again.body as Added).task_id)).status).toBe('SUCCESS');
    const chunks = await world.alice.json<{ chunks: { metadata: { filename: string } }[] }>(`/api/get_chunks?id=${source_id}`);
    expect(chunks.chunks.map(({ metadata }) => metadata.filename)).toEqual(['manual/ferry.md', 'extra/tides.md']);
  });

  describe('are refused', () => {
    const zeros = '0'.repeat(3_000_000);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`${index}.md`, 'x']));
    it.each([
      ['that are not archives', 400, strToU8('none'), 'cannot be read as an archive'],
      ['without a document', 400, zipOf({ 'a.png': 'x' }), 'holds no document that can be read'],
      ['with too many bytes', 413, zipOf({ 'a.md': zeros }), 'unpacked it would take 3000000 bytes'],
      ['with too many files', 413, zipOf(many), 'more than 20 files'],
    ])('%s', async (_, status, bytes, message) => {
      expect(await upload(['a.zip', bytes])).toMatchObject({
        status,
        body: { success: false, message: expect.stringContaining(message) as unknown },
      });
    });

    it('by the task, if the bomb is inside another archive', async () => {
      const bomb = zipOf({ 'a.md': '0'.repeat(1_900_000) });
      const { body } = await upload(['a.zip', zipOf({ 'a.md': 'A', 'b.zip': bomb })]);
      const { status, result } = await ended((body as Added).task_id);
      expect([status, result]).toEqual(['FAILURE', expect.stringContaining('a.zip/b.zip: unpacked it would take 1900000 bytes')]);
    });
  });
}
