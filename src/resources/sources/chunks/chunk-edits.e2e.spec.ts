import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addedSource } from '../../../../test/support/sources.js';
import { openWorld, replyOf, type World } from '../../../../test/support/world.js';
import { newId } from '../../../kernel/ids.js';

type Chunk = Readonly<{ doc_id: string; text: string; metadata: Readonly<Record<string, unknown>> }>;

let world: World;
let id: string;
beforeAll(async () => {
  world = await openWorld({});
  id = await addedSource(world.alice, 'Handbook', '# Tea\n\nTea is at four.');
});
afterAll(() => world.close());

const chunks = async () => (await world.alice.json<{ chunks: readonly Chunk[] }>(`/api/get_chunks?id=${id}`)).chunks;
const found = async (query: string) => {
  const { body } = await replyOf(world.alice.post(`/api/sources/${id}/search`, { query }));
  return (body as { chunks: readonly { text: string }[] }).chunks.map(({ text }) => text);
};
const answered = async (responding: Promise<Response>) => {
  const { status, body } = await replyOf(responding);
  return [status, body];
};

describe('chunks', () => {
  it('are added, found, changed and removed', async () => {
    const added = await replyOf(
      world.alice.post('/api/add_chunk', { id, text: 'Scones come with jam.', metadata: { title: 'Scones' } }),
    );
    expect(added).toMatchObject({ status: 201, body: { message: expect.any(String), chunk_id: expect.any(String) } });
    const { chunk_id } = added.body as { chunk_id: string };
    expect((await chunks()).at(-1)).toMatchObject({
      doc_id: chunk_id,
      text: 'Scones come with jam.',
      metadata: { title: 'Scones', filename: 'added.txt' },
    });
    expect(await found('jam')).toEqual(['Scones come with jam.']);
    expect((await world.alice.put('/api/update_chunk', { id, chunk_id, text: 'Scones come with butter.' })).status).toBe(200);
    expect([await found('jam'), await found('butter')]).toEqual([[], ['Scones come with butter.']]);
    expect((await chunks()).at(-1)?.metadata).toMatchObject({ title: 'Scones' });
    const gone = await world.alice.delete(`/api/delete_chunk?id=${id}&chunk_id=${chunk_id}`);
    expect(gone.status).toBe(200);
    expect(await found('butter')).toEqual([]);
    const again = (await replyOf(world.alice.post('/api/add_chunk', { id, text: 'Cake.' }))).body as { chunk_id: string };
    expect(again.chunk_id).not.toBe(chunk_id);
  });

  it('belong to the file that a client names as their source', async () => {
    const [{ metadata }] = (await chunks()) as readonly [Chunk];
    const filename = String(metadata['filename']);
    const add = async (source: string) => {
      const added = { id, text: 'Milk first.', metadata: { source, source_id: id, title: 'Milk' } };
      expect((await world.alice.post('/api/add_chunk', added)).status).toBe(201);
      return (await chunks()).at(-1)?.metadata['filename'];
    };
    expect(await add(filename)).toBe(filename);
    expect(await add('Handbook')).toBe('added.txt');
  });

  it('are not found for other users or under unknown ids', async () => {
    const [{ doc_id: chunk_id }] = (await chunks()) as readonly [Chunk];
    const missing = [404, { success: false, message: 'Chunk not found' }];
    for (const other of ['x', `${newId()}-0`, chunk_id.replace(/\d+$/, '999')]) {
      expect(await answered(world.alice.put('/api/update_chunk', { id, chunk_id: other, text: 'No.' }))).toEqual(missing);
      expect(await answered(world.alice.delete(`/api/delete_chunk?id=${id}&chunk_id=${other}`))).toEqual(missing);
    }
    expect((await world.bob.post('/api/add_chunk', { id, text: 'No.' })).status).toBe(404);
    expect((await world.bob.put('/api/update_chunk', { id, chunk_id, text: 'No.' })).status).toBe(404);
    expect((await world.bob.delete(`/api/delete_chunk?id=${id}&chunk_id=${chunk_id}`)).status).toBe(404);
    expect((await world.nobody.post('/api/add_chunk', { id, text: 'No.' })).status).toBe(401);
    for (const text of ['', ' ', 'x'.repeat(32_001)])
      expect((await world.alice.post('/api/add_chunk', { id, text })).status).toBe(400);
    expect((await world.alice.delete(`/api/delete_chunk?id=${id}`)).status).toBe(400);
  });
});
