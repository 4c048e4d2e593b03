import { beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_SOURCE_CONFIG } from '../../../src/resources/sources/source/source-config.policy.js';
import { answerJson, LocalServer } from '../../support/local-server.js';
import { WEB_CLIENT_CONFIG } from '../../support/web-client-form.js';
import { file, type Ground, type Json } from './ground.js';

/** The pages of sources, with their files and chunks. */
export function sourcePages(ground: () => Ground): void {
  const uploaded = async (name: string, filename: string, text: string): Promise<string> => {
    const form = { file: file(filename, 'text/markdown', text), name, user: 'local', config: JSON.stringify(WEB_CLIENT_CONFIG) };
    const queued = await ground().send('/api/upload', form);
    expect(queued).toMatchObject({ success: true, task_id: expect.any(String), source_id: expect.any(String) });
    const result = await ground().ended(queued['task_id']);
    expect(result).toMatchObject({ name_job: name, filename, formats: expect.any(Array), limited: false });
    return String(queued['source_id']);
  };

  describe('the pages of sources', () => {
    let id: string;
    beforeAll(async () => {
      id = await uploaded('Handbook', 'parking.md', '# Parking\n\nThe garage opens at six.');
    });

    it('list them in pages', async () => {
      const page = ground();
      const item = { id, name: 'Handbook', location: 'local', syncFrequency: '', type: expect.any(String) };
      expect(await page.get('/api/sources/paginated?sort=date&order=desc&page=1&rows=10&search=hand')).toEqual({
        ...{ total: 1, totalPages: 1, currentPage: 1 },
        paginated: [expect.objectContaining({ ...item, isNested: expect.any(Boolean), ingestStatus: expect.any(String) })],
      });
      expect(await page.get('/api/sources')).toEqual([
        expect.objectContaining({ name: 'Default', date: 'default', location: 'remote', tokens: '', retriever: 'classic' }),
        expect.objectContaining({ ...item, is_nested: expect.any(Boolean), config: DEFAULT_SOURCE_CONFIG, ownership: 'user' }),
      ]);
    });

    it('show chunks, and add, change, find and delete one', async () => {
      const page = ground();
      const chunks = (more = '') =>
        page.get<{ total: number; chunks: Json[] }>(`/api/get_chunks?id=${id}&page=1&per_page=10${more}`);
      const { total, chunks: shown } = await chunks();
      expect(shown[0]).toEqual({
        doc_id: expect.any(String),
        text: expect.stringContaining('opens at six'),
        metadata: expect.anything(),
      });
      const added = await page.post('/api/add_chunk', { id, text: 'Bicycles go in the yard.', metadata: { title: 'Bicycles' } });
      expect(added).toMatchObject({ message: expect.any(String), chunk_id: expect.any(String) });
      const chunk = { id, chunk_id: added['chunk_id'], text: 'Bicycles go in the cellar.', metadata: { title: 'Bicycles' } };
      await page.put('/api/update_chunk', chunk);
      expect(await chunks('&search=cellar')).toMatchObject({
        total: 1,
        search: 'cellar',
        chunks: [{ text: 'Bicycles go in the cellar.' }],
      });
      const found = await page.post(`/api/sources/${id}/search`, { query: 'bicycles', retrieval: { chunks: 2 } });
      expect(JSON.stringify(found)).toContain('Bicycles go in the cellar.');
      await page.delete(`/api/delete_chunk?id=${id}&chunk_id=${String(added['chunk_id'])}`);
      expect((await chunks()).total).toBe(total);
    });

    it('show the files of one, and add and remove some', async () => {
      const page = ground();
      const form = {
        source_id: id,
        operation: 'add',
        parent_dir: 'rules',
        file: file('fire.md', 'text/markdown', 'Use the stairs.'),
      };
      const added = await page.send('/api/manage_source_files', form);
      expect(added).toMatchObject({ success: true, source_id: id, added_files: expect.any(Array), parent_dir: 'rules' });
      await page.ended(added['reingest_task_id']);
      const shown = await page.get(`/api/directory_structure?id=${id}`);
      expect(shown).toMatchObject({ success: true, base_path: expect.any(String), provider: expect.any(String) });
      expect(Object.keys(shown['directory_structure'] as Json)).toEqual(expect.arrayContaining(['parking.md', 'rules']));
      const path = JSON.stringify(['rules/fire.md']);
      const removed = await page.send('/api/manage_source_files', { source_id: id, operation: 'remove', file_paths: path });
      expect(removed).toMatchObject({ success: true, removed_files: ['rules/fire.md'] });
      await page.ended(removed['reingest_task_id']);
    });

    it('configure one, and ingest it again', async () => {
      const page = ground();
      const config = { ...WEB_CLIENT_CONFIG, retrieval: { ...WEB_CLIENT_CONFIG.retrieval, chunks: 5 } };
      const changed = await page.patch(`/api/sources/${id}/config`, config);
      expect(changed).toMatchObject({
        success: true,
        requires_reingest: expect.any(Boolean),
        warnings: [],
        config: { retrieval: { chunks: 5 } },
      });
      const again = await page.post('/api/sources/reingest', { source_id: id });
      expect(again).toMatchObject({ success: true, task_id: expect.any(String) });
      await page.ended(again['task_id']);
    });

    it('add one from the web, set its sync frequency and delete it', async () => {
      const page = ground();
      const site = await LocalServer.started((_, response) => answerJson(response, { hours: 'The pool opens at seven.' }));
      try {
        const data = JSON.stringify({ url: `${site.url}/pool.json` });
        const form = { name: 'Pool', user: 'local', source: 'url', config: JSON.stringify(WEB_CLIENT_CONFIG), data };
        const queued = await page.send('/api/remote', form);
        await page.ended(queued['task_id']);
        const { source_id } = queued;
        expect(await page.post('/api/manage_sync', { source_id, sync_frequency: 'daily' })).toEqual({ success: true });
        const synced = await page.post('/api/sync_source', { source_id });
        await page.ended(synced['task_id']);
        expect(await page.get(`/api/delete_old?source_id=${String(source_id)}`)).toMatchObject({ success: true });
        expect(JSON.stringify(await page.get('/api/sources'))).not.toContain(String(source_id));
      } finally {
        await site.close();
      }
    });
  });
}
