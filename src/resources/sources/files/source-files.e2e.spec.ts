import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { addedSource } from '../../../../test/support/sources.js';
import { openWorld, replyOf, type World } from '../../../../test/support/world.js';

let world: World;
let sourceId: string;
beforeAll(async () => {
  world = await openWorld({});
  sourceId = await addedSource(world.alice, 'Handbook', '# Tea\n\nTea is at four.', 'tea.md');
});
afterAll(() => world.close());

type Changed = Readonly<{ reingest_task_id: string; success: boolean }>;

const form = (fields: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries({ source_id: sourceId, ...fields })) data.append(name, value);
  for (const [name, text] of Object.entries(files)) data.append('file', new Blob([text]), name);
  return data;
};
const send = (...given: Parameters<typeof form>) => replyOf(world.alice.send('/api/manage_source_files', form(...given)));
const read = async (body: unknown): Promise<void> => {
  const { reingest_task_id: taskId } = body as Changed;
  await eventually(async () => (await world.alice.json(`/api/task_status?task_id=${taskId}`))['status'] === 'SUCCESS', 60_000);
};
const found = async (query: string) => {
  const { body } = await replyOf(world.alice.post(`/api/sources/${sourceId}/search`, { query }));
  return JSON.stringify(body);
};
const structure = async () =>
  (await world.alice.json<{ directory_structure: object }>(`/api/directory_structure?id=${sourceId}`)).directory_structure;

describe('the files of a source', () => {
  it('are added, searched, and removed by directory', async () => {
    const add = () => send({ operation: 'add', parent_dir: '/drinks/' }, { 'cocoa.md': '# Cocoa\n\nCocoa is at nine.' });
    const remove = () => send({ operation: 'remove_directory', directory_path: 'drinks' });
    let [added, busy] = [await add(), await remove()];
    // The file may have been read before the second request arrived.
    while (busy.status === 200) {
      await read(busy.body);
      [added, busy] = [await add(), await remove()];
    }
    expect([added.status, added.body]).toEqual([
      200,
      {
        success: true,
        message: 'Added 1 files',
        added_files: ['cocoa.md'],
        parent_dir: 'drinks',
        reingest_task_id: expect.any(String),
        source_id: sourceId,
      },
    ]);
    expect([busy.status, busy.body]).toMatchObject([409, { error: 'source_being_ingested' }]);
    await read(added.body);
    expect(await structure()).toMatchObject({ 'tea.md': {}, drinks: { 'cocoa.md': {} } });
    expect(await found('cocoa')).toContain('Cocoa is at nine.');
    const removed = await remove();
    expect(removed.body).toMatchObject({ success: true, removed_directory: 'drinks', source_id: sourceId });
    await read(removed.body);
    expect(await structure()).toEqual({ 'tea.md': expect.anything() });
    expect(await found('cocoa')).not.toContain('Cocoa is at nine.');
  });

  it('are removed by path, also with a JSON body', async () => {
    await read((await send({ operation: 'add' }, { 'a.md': 'Apples.', 'b.md': 'Pears.' })).body);
    const removed = await send({ operation: 'remove', file_paths: JSON.stringify(['a.md']) });
    expect(removed.body).toMatchObject({ success: true, removed_files: ['a.md'] });
    await read(removed.body);
    const json = { source_id: sourceId, operation: 'remove', file_paths: ['b.md'] };
    await read((await replyOf(world.alice.post('/api/manage_source_files', json))).body);
    expect(await structure()).toEqual({ 'tea.md': expect.anything() });
  });

  it.each([
    ['without a source', { source_id: '', operation: 'add' }, {}, 400],
    ['with an unknown operation', { operation: 'rename' }, {}, 400],
    ['without files', { operation: 'add' }, {}, 400],
    ['with files of an unsupported kind', { operation: 'add' }, { 'a.exe': 'MZ' }, 415],
    ['with a directory outside the source', { operation: 'add', parent_dir: '../other' }, { 'a.md': 'Apples.' }, 400],
    ['with paths that are not a list', { operation: 'remove', file_paths: 'a.md' }, {}, 400],
    ['without paths', { operation: 'remove' }, {}, 400],
    ['with paths that do not exist', { operation: 'remove', file_paths: '["z.md"]' }, {}, 404],
    ['with the paths of all files', { operation: 'remove', file_paths: '["tea.md"]' }, {}, 400],
    ['without a directory', { operation: 'remove_directory', directory_path: '/' }, {}, 400],
    ['of an unknown source', { source_id: '00000000-0000-4000-8000-000000000000', operation: 'add' }, { 'a.md': 'A' }, 404],
  ])('are not changed %s', async (_, fields, files, status) => {
    expect((await send(fields as Record<string, string>, files as Record<string, string>)).status).toBe(status);
  });

  it('are not found for another user', async () => {
    const { status } = await replyOf(world.bob.send('/api/manage_source_files', form({ operation: 'add' }, { 'a.md': 'A' })));
    expect(status).toBe(404);
  });
});
