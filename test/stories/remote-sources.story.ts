import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SourceQueries } from '../../projections/sources/sources.queries.js';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { lastEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { sourceCodec } from '../../src/resources/sources/source/source.codec.js';
import { type SourceSyncDue, sourceStream } from '../../src/resources/sources/source/source.events.js';
import { type UserEvent, userStream } from '../../src/views/notifications/user.events.js';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { LocalServer } from '../support/local-server.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';
import { systemTiming } from '../../src/platform/system-timing.js';

type Added = Readonly<{ success: boolean; task_id: string; source_id: string }>;
type Status = Readonly<{ status: string; result: unknown }>;
type Listed = Readonly<{ id: string; syncFrequency: string; type: string; location: string; ingestStatus?: string }>;

const PAGES_MAX = 4;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const NOT_FOUND = { status: 404, body: { success: false, message: 'Source not found' } };

/** Web pages as sources: what is fetched, what questions find in it, and what changes when the pages change. */
export function remoteSourcesStory(makeBacking: MakeBacking): void {
  let world: World;
  let site: LocalServer;
  const bearers = new Map<string, string>();
  /** The text of a page, or the status of a missing one. */
  const pages = new Map<string, string | number>();

  beforeAll(async () => {
    site = await LocalServer.started(({ path }, response) => {
      const page = pages.get(path) ?? 404;
      const type = path.endsWith('.xml') ? 'application/xml' : 'text/html; charset=utf-8';
      response.writeHead(typeof page === 'number' ? page : 200, { 'content-type': type }).end(`${page}`);
    });
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: site.host, REMOTE_MAX_PAGES: String(PAGES_MAX) }, makeBacking);
    const tokens = world.service.service.app.get(SessionTokens, { strict: false });
    for (const userId of ['alice', 'bob']) bearers.set(userId, `Bearer ${await tokens.issue({ subject: userId, roles: [] })}`);
  });
  afterAll(async () => {
    await world.close();
    await site.close();
  });
  beforeEach(() => {
    pages.clear();
    site.requests.length = 0;
  });

  const remote = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}, as = 'alice') => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ user: 'local', name: 'Site', source: 'url', ...fields }))
      form.append(name, value);
    return replyOf(
      fetch(`${world.service.url}/api/remote`, {
        method: 'POST',
        body: form,
        headers: { authorization: bearers.get(as) ?? '', ...headers },
      }),
    );
  };
  const add = async (source: string, data: unknown, name = 'Site'): Promise<Added> => {
    const { status, body } = await remote({ source, data: JSON.stringify(data), name });
    expect(status).toBe(200);
    return body as Added;
  };
  const settled = async (taskId: string): Promise<Status> => {
    let status: Status = { status: '', result: null };
    await eventually(async () => {
      status = await world.alice.json<Status>(`/api/task_status?task_id=${taskId}`);
      return ['SUCCESS', 'FAILURE'].includes(status.status);
    });
    return status;
  };
  const send = (path: string, body: unknown, as: Client = world.alice): Promise<Reply> => replyOf(as.post(path, body));
  const again = async (path: string, sourceId: string): Promise<Status> => {
    const { status, body } = await send(path, { source_id: sourceId });
    expect(status).toBe(200);
    return settled((body as Added).task_id);
  };
  const found = async (sourceId: string, question: string): Promise<readonly string[]> => {
    const { key } = await world.agent({ sources: [sourceId] });
    const results = await world.nobody.post('/api/search', { question, api_key: key });
    return ((await results.json()) as { text: string }[]).map(({ text }) => text);
  };
  const listed = async (id: string): Promise<Listed> =>
    (await world.alice.json<Listed[]>('/api/sources')).find((source) => source.id === id)!;

  describe('pages', () => {
    it('are found by questions, with their new text once they have changed and been synced', async () => {
      pages.set('/prices', '<title>Prices</title><h1>Tickets</h1><p>A ticket to the moon costs 70 crowns.</p>');
      const { source_id, task_id } = await add('url', { url: `${site.url}/prices` });
      expect(await settled(task_id)).toEqual({
        status: 'SUCCESS',
        result: {
          id: source_id,
          urls: `${site.url}/prices`,
          name_job: 'Site',
          user: await world.idOf('alice'),
          limited: false,
          pages: 1,
          warnings: [],
        },
      });
      expect((await found(source_id, 'ticket to the moon')).join()).toContain('70 crowns');
      const { key } = await world.agent({ sources: [source_id] });
      const answer = await world.nobody.post('/api/answer', { question: 'What is a ticket to the moon?', api_key: key });
      expect(JSON.stringify(((await answer.json()) as { sources: unknown }).sources)).toContain('70 crowns');
      pages.set('/prices', '<title>Prices</title><h1>Tickets</h1><p>A ticket to the moon costs 95 crowns.</p>');
      expect((await again('/api/sync_source', source_id)).status).toBe('SUCCESS');
      const texts = (await found(source_id, 'ticket to the moon')).join();
      expect([texts.includes('95 crowns'), texts.includes('70 crowns')]).toEqual([true, false]);
    });

    it('that have not changed keep their chunks', async () => {
      pages.set('/same', '<h1>Same</h1><p>As ever.</p>');
      const { source_id, task_id } = await add('url', { url: `${site.url}/same` });
      await settled(task_id);
      const chunkIds = async () =>
        (await world.alice.json<{ chunks: { doc_id: string }[] }>(`/api/get_chunks?id=${source_id}`)).chunks.map(
          ({ doc_id }) => doc_id,
        );
      const before = await chunkIds();
      expect((await again('/api/sources/reingest', source_id)).status).toBe('SUCCESS');
      expect([before.length, await chunkIds()]).toEqual([1, before]);
    });

    it('stay searchable when a sync fails, and the reason is reported', async () => {
      pages.set('/kept', '<h1>Kept</h1><p>The lighthouse keeper keeps owls.</p>');
      const { source_id, task_id } = await add('url', { url: `${site.url}/kept` });
      await settled(task_id);
      pages.clear();
      expect(await again('/api/sync_source', source_id)).toEqual({
        status: 'FAILURE',
        result: `No page could be fetched. ${site.url}/kept: It answered with HTTP status 404.`,
      });
      expect((await found(source_id, 'lighthouse keeper')).join()).toContain('owls');
      await eventually(async () => {
        const { paginated } = await world.alice.json<{ paginated: Listed[] }>('/api/sources/paginated?rows=100');
        return paginated.find(({ id }) => id === source_id)?.ingestStatus === 'failed';
      });
    });

    it('that are temporarily unavailable keep their chunks, while others are updated', async () => {
      pages.set('/away', '<p>The smith forges horseshoes.</p>').set('/here', '<p>The miller grinds rye.</p>');
      const { source_id, task_id } = await add('url', { url: ['/away', '/here'].map((path) => site.url + path) });
      await settled(task_id);
      pages.set('/away', 503).set('/here', '<p>The miller grinds wheat.</p>');
      expect(await again('/api/sync_source', source_id)).toMatchObject({
        status: 'SUCCESS',
        result: {
          pages: 2,
          warnings: [`${site.url}/away: It answered with HTTP status 503. What was read of it before is kept.`],
        },
      });
      expect((await found(source_id, 'smith')).join()).toContain('horseshoes');
      expect((await found(source_id, 'miller')).join()).toContain('wheat');
    });

    it('are read if possible, and those that cannot be read are reported', async () => {
      pages.set('/there', '<p>The ferry leaves at nine.</p>').set('/silent', '<script>app()</script>');
      const urls = ['/there', '/gone', '/silent'].map((path) => site.url + path);
      const { source_id, task_id } = await add('url', { url: urls });
      expect(await settled(task_id)).toMatchObject({
        status: 'SUCCESS',
        result: {
          urls,
          pages: 1,
          warnings: [`${urls[1]}: It answered with HTTP status 404.`, `${urls[2]}: There is no text in it.`],
        },
      });
      expect((await found(source_id, 'ferry')).join()).toContain('nine');
    });

    it('are reported to the owner’s tabs while they are ingested', async () => {
      pages.set('/told', '<p>Told.</p>');
      const { source_id, task_id } = await add('url', { url: [`${site.url}/told`, `${site.url}/gone`] }, 'Told');
      await settled(task_id);
      await again('/api/sync_source', source_id);
      const about = { source_id, job_name: 'Told', loader: 'url' };
      await eventually(async () => {
        const events: UserEvent[] = [];
        for await (const page of world.backing.store.read(userStream(await world.idOf('alice')))) {
          events.push(...page.map(({ data }) => JSON.parse(data) as UserEvent));
        }
        const told = events.filter(({ scope, type }) => scope.id === source_id && type !== 'source.ingest.progress');
        if (told.length < 4) return false;
        const warnings = [`${site.url}/gone: It answered with HTTP status 404.`];
        expect(told).toMatchObject([
          { type: 'source.ingest.queued', payload: { ...about, operation: 'upload' } },
          { type: 'source.ingest.completed', payload: { ...about, operation: 'upload', limited: false, warnings } },
          { type: 'source.ingest.queued', payload: { ...about, operation: 'sync' } },
          { type: 'source.ingest.completed', payload: { ...about, operation: 'sync', warnings } },
        ]);
        return true;
      });
    });
  });

  it('a sitemap lists the pages, up to the maximum number', async () => {
    const paths = ['/1', '/2', '/3', '/4', '/5'];
    for (const path of paths) pages.set(path, `<p>This is page number${path.slice(1)}.</p>`);
    pages.set('/sitemap.xml', `<urlset>${paths.map((path) => `<url><loc>${site.url}${path}</loc></url>`).join('')}</urlset>`);
    const { task_id, source_id } = await add('sitemap', { url: `${site.url}/sitemap.xml` });
    expect(await settled(task_id)).toMatchObject({
      status: 'SUCCESS',
      result: { pages: PAGES_MAX, warnings: ['There are more pages than were read.'] },
    });
    expect((await found(source_id, 'number3')).join()).toContain('number3');
  });

  it('a crawl follows links on its host', async () => {
    pages.set('/start', '<p>Start.</p><a href="/linked">on</a>').set('/linked', '<p>The vault opens at noon.</p>');
    const { task_id, source_id } = await add('crawler', { url: `${site.url}/start` });
    expect(await settled(task_id)).toMatchObject({ status: 'SUCCESS', result: { pages: 2 } });
    expect((await found(source_id, 'vault')).join()).toContain('noon');
    expect(await listed(source_id)).toMatchObject({ type: 'crawler', location: 'local' });
  });

  describe('a request', () => {
    it.each([
      [{ data: '{"url": "http://127.0.0.1:1/"}' }, '127.0.0.1 may not be reached from here'],
      [{ data: '{"url": "http://169.254.169.254/latest"}' }, 'may not be reached from here'],
      [{ data: '{"url": "http://me:secret@example.com/"}' }, 'must not hold a user name or a password'],
      [{ data: '{"url": "file:///etc/passwd"}' }, 'is not an http or https address'],
      [{ data: '{}' }, 'Missing required fields: url in data'],
      [{ data: '' }, 'Missing required fields: data'],
      [{ source: 'reddit', data: '{"client_id": "a"}' }, 'no sources of the kind reddit'],
    ])('is refused for %j', async (fields, reason) => {
      const { status, body } = await remote(fields);
      expect([status, body]).toEqual([400, { success: false, message: expect.stringContaining(reason) as unknown }]);
    });

    it('creates one source per key, and another request with the same key is refused', async () => {
      pages.set('/key', '<p>Key.</p>');
      const data = JSON.stringify({ url: `${site.url}/key` });
      const key = { 'idempotency-key': 'remote-1' };
      const [first, second] = [await remote({ data }, key), await remote({ data }, key)];
      expect(second.body).toEqual(first.body);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect((await remote({ data, name: 'Other' }, key)).status).toBe(422);
      expect((await remote({ data }, key, 'bob')).body).not.toEqual(first.body);
      await settled((first.body as Added).task_id);
    });

    it('may be sent as JSON', async () => {
      pages.set('/json', '<p>JSON.</p>');
      const { status, body } = await send('/api/remote', { source: 'url', name: 'J', data: JSON.stringify(`${site.url}/json`) });
      expect(status).toBe(200);
      expect((await settled((body as Added).task_id)).status).toBe('SUCCESS');
    });

    it('requires a user', async () => {
      expect((await remote({ data: '{}' }, {}, 'nobody')).status).toBe(401);
      expect((await send('/api/manage_sync', {}, world.nobody)).status).toBe(401);
    });
  });

  describe('a frequency', () => {
    it('is set by the owner and shown, with the time of the next sync', async () => {
      pages.set('/often', '<p>Often.</p>');
      const { source_id, task_id } = await add('url', { url: `${site.url}/often` });
      await settled(task_id);
      expect((await listed(source_id)).syncFrequency).toBe('never');
      const before = Date.now();
      const set = await send('/api/manage_sync', { source_id, sync_frequency: 'weekly' });
      expect([set.status, set.body]).toEqual([200, { success: true }]);
      expect(await listed(source_id)).toMatchObject({ syncFrequency: 'weekly', type: 'url' });
      const coming = await world.service.service.app.get(SourceQueries, { strict: false }).syncsOf(await world.idOf('alice'));
      const { nextSyncAt } = coming.find(({ sourceId }) => sourceId === source_id)!;
      expect(Math.round((nextSyncAt.getTime() - before) / 3_600_000)).toBe(7 * 24);
      await send('/api/manage_sync', { source_id, sync_frequency: 'never' });
      expect((await listed(source_id)).syncFrequency).toBe('never');
    });

    it('fetches the pages again when it is due, without a request', async () => {
      pages.set('/due', '<p>The harbour is open.</p>');
      const { source_id, task_id } = await add('url', { url: `${site.url}/due`, sync_frequency: 'daily' });
      await settled(task_id);
      pages.set('/due', '<p>The harbour is closed.</p>');
      const stream = sourceStream(source_id);
      const { revision } = (await lastEvent(world.backing.store, stream))!;
      const overdue: SourceSyncDue = {
        type: 'SourceSyncDue',
        data: {
          sourceId: source_id,
          ingestId: task_id,
          dueAt: '2026-01-01T00:00:00.000Z',
          nextSyncAt: '2026-01-02T00:00:00.000Z',
        },
      };
      const cause = { actor: 'system:test', credential: 'system', correlationId: source_id, causationId: source_id } as const;
      await new Streams(world.backing.store, systemTiming).append(stream, revision, sourceCodec, [overdue], cause);
      await eventually(async () => (await found(source_id, 'harbour')).join().includes('closed'));
      const coming = await world.service.service.app.get(SourceQueries, { strict: false }).syncsOf(await world.idOf('alice'));
      const { nextSyncAt } = coming.find(({ sourceId }) => sourceId === source_id)!;
      expect(nextSyncAt.getTime()).toBeGreaterThan(Date.now());
      expect(nextSyncAt.toISOString()).toMatch(/T00:00:00.000Z$/);
    });

    it('may be set when the source is created', async () => {
      pages.set('/daily', '<p>Daily.</p>');
      const { source_id, task_id } = await add('url', { url: `${site.url}/daily`, sync_frequency: 'daily' });
      expect((await listed(source_id)).syncFrequency).toBe('daily');
      await settled(task_id);
    });

    it('is refused if it is unknown, for an upload, and for a source of another user', async () => {
      const form = new FormData();
      form.append('name', 'Upload');
      form.append('file', new Blob(['Uploaded text.']), 'a.txt');
      const uploading = await fetch(`${world.service.url}/api/upload`, {
        method: 'POST',
        body: form,
        headers: { authorization: bearers.get('alice')! },
      });
      const { source_id, task_id } = (await uploading.json()) as Added;
      await settled(task_id);
      const refusals = [
        [{ source_id }, 'Missing required fields: sync_frequency'],
        [{ sync_frequency: 'daily' }, 'Missing required fields: source_id'],
        [{ source_id, sync_frequency: 'hourly' }, 'sync_frequency must be one of never, daily, weekly, monthly'],
        [{ source_id, sync_frequency: 'daily' }, 'The source was uploaded: there is nothing to sync it with.'],
      ] as const;
      for (const [body, message] of refusals) {
        expect(await send('/api/manage_sync', body)).toMatchObject({ status: 400, body: { success: false, message } });
      }
      expect((await send('/api/sync_source', { source_id })).status).toBe(400);
      expect((await again('/api/sources/reingest', source_id)).status).toBe('SUCCESS');
      for (const id of [source_id, UNKNOWN_ID, 'nonsense']) {
        expect(await send('/api/manage_sync', { source_id: id, sync_frequency: 'daily' }, world.bob)).toMatchObject(NOT_FOUND);
        for (const path of ['/api/sync_source', '/api/sources/reingest']) {
          expect(await send(path, { source_id: id }, world.bob)).toMatchObject(NOT_FOUND);
        }
      }
    });
  });
}
