import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { attempt, cause, CountingEmbeddings, Ingestions } from '../../../test/support/ingestions.js';
import { LocalServer } from '../../../test/support/local-server.js';
import { newId } from '../../kernel/ids.js';
import { AttemptFailed } from '../../work/tasks/task-runner.port.js';
import { RETRIES_MAX } from '../../work/tasks/task.policy.js';
import { DEFAULT_SOURCE_CONFIG } from './source/source-config.policy.js';
import { createSource, source } from './source/source.decider.js';
import { sourceStream } from './source/source.events.js';
import { ingestAgain } from './source/sync.decider.js';

let ingestions: Ingestions;
beforeEach(async () => {
  ingestions = await Ingestions.started();
});
afterEach(() => ingestions.close());

describe('pages', () => {
  let site: LocalServer;
  let text: string | undefined;
  let isListed = true;
  beforeAll(async () => {
    site = await LocalServer.started(({ path }, response) => {
      const sitemap = `<urlset><url><loc>${site.url}/page</loc></url><url><loc>${site.url}/other</loc></url></urlset>`;
      if (path === '/sitemap.xml') response.writeHead(isListed ? 200 : 503).end(sitemap);
      else if (path === '/other') response.writeHead(200, { 'content-type': 'text/plain' }).end('other');
      else response.writeHead(text === undefined ? 503 : 200, { 'content-type': 'text/plain' }).end(text);
    });
  });
  afterAll(() => site.close());
  beforeEach(() => {
    site.requests.length = 0;
  });

  async function added(kind: 'url' | 'sitemap' = 'url', path = '/page'): Promise<{ sourceId: string; taskId: string }> {
    const ids = { sourceId: newId(), taskId: newId() };
    const remote = { kind, urls: [`${site.url}${path}`] };
    const created = { sourceId: ids.sourceId, ownerId: 'ann', name: 'Site', config: DEFAULT_SOURCE_CONFIG, remote };
    await ingestions.streams.transact(sourceStream(ids.sourceId), source, createSource(created, ids.taskId, []), cause);
    return ids;
  }
  const again = async ({ sourceId }: { sourceId: string }) => {
    const taskId = newId();
    await ingestions.streams.transact(sourceStream(sourceId), source, ingestAgain(sourceId, 'ann', taskId, 'of-pages'), cause);
    return { sourceId, taskId };
  };
  const live = async (sourceId: string) => (await ingestions.streams.fold(sourceStream(sourceId), source)).state.live?.chunksId;

  it('are fetched only once, even if the ingestion is interrupted afterwards', async () => {
    const ids = await added();
    text = 'one\ntwo';
    const append = ingestions.store.append.bind(ingestions.store);
    ingestions.store.append = (stream, ...rest) =>
      stream.startsWith('chunks-') ? Promise.reject(new Error('The process ends here.')) : append(stream, ...rest);
    await expect(ingestions.ingesting().run(attempt(ids))).rejects.toThrow('ends here');
    ingestions.store.append = append;
    text = 'other';
    const result = await ingestions.ingesting().run(attempt(ids));
    expect(result).toEqual({
      id: ids.sourceId,
      urls: `${site.url}/page`,
      name_job: 'Site',
      user: 'ann',
      limited: false,
      pages: 1,
      warnings: [],
    });
    expect([await ingestions.texts(), site.requests.length]).toEqual([['one', 'two'], 1]);
    expect(await ingestions.ingesting().run(attempt(ids))).toEqual(result);
  });

  it('with unchanged content keep their chunks, without being stored or embedded again', async () => {
    const ids = await added();
    const embeddings = new CountingEmbeddings();
    text = 'one\ntwo';
    await ingestions.ingesting(embeddings).run(attempt(ids));
    const before = await live(ids.sourceId);
    await ingestions.ingesting(embeddings).run(attempt(await again(ids)));
    await ingestions.ingesting(embeddings).run(attempt(await again(ids)));
    expect([await live(ids.sourceId), embeddings.embedded, (await ingestions.batches()).length]).toEqual([before, 2, 1]);
    // Without the embeddings model the chunks differ, so they are written again.
    await ingestions.ingesting().run(attempt(await again(ids)));
    expect(await live(ids.sourceId)).not.toBe(before);
  });

  it('with the content of an earlier version are stored again, because replaced chunks are not kept', async () => {
    const ids = await added();
    const lives: unknown[] = [];
    for (const [index, each] of ['one', 'two', 'one'].entries()) {
      text = each;
      await ingestions.ingesting().run(attempt(index === 0 ? ids : await again(ids)));
      lives.push(await live(ids.sourceId));
    }
    expect([new Set(lives).size, await ingestions.texts()]).toEqual([3, ['one', 'two', 'one']]);
  });

  it('that are temporarily unavailable are fetched again by the next attempt, and the last attempt fails with the reason', async () => {
    const ids = await added();
    text = undefined;
    const tried = (number: number) => ingestions.ingesting().run({ ...attempt(ids), attempt: number });
    const reason = `No page could be fetched. ${site.url}/page: It answered with HTTP status 503.`;
    const first = await tried(1).catch((error: unknown) => error);
    expect([first instanceof AttemptFailed, (first as Error).message]).toEqual([true, reason]);
    await expect(tried(RETRIES_MAX + 1)).rejects.toMatchObject({ code: 'pages-not-fetched', message: reason });
    text = 'there';
    await tried(2);
    expect(await ingestions.texts()).toEqual(['there']);
  });

  it('that are temporarily unavailable, with their sitemap, keep their chunks', async () => {
    const ids = await added('sitemap', '/sitemap.xml');
    text = 'one\ntwo';
    await ingestions.ingesting().run(attempt(ids));
    const before = await live(ids.sourceId);
    [text, isListed] = [undefined, false];
    for (let sync = 0; sync < 2; sync++) {
      const { warnings } = (await ingestions.ingesting().run(attempt(await again(ids)))) as { warnings: readonly string[] };
      expect(warnings.map((warning) => warning.slice(site.url.length))).toEqual([
        '/sitemap.xml: It answered with HTTP status 503. What was read of it before is kept.',
        '/page: It answered with HTTP status 503. What was read of it before is kept.',
      ]);
    }
    isListed = true;
    expect([await live(ids.sourceId), await ingestions.texts()]).toEqual([before, ['one', 'two', 'other']]);
  });

  it('without any text fail the ingestion', async () => {
    text = '';
    await expect(ingestions.ingesting().run(attempt(await added()))).rejects.toMatchObject({ code: 'document-unreadable' });
  });
});
