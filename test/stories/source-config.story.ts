import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_SOURCE_CONFIG } from '../../src/resources/sources/source/source-config.policy.js';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { LocalServer } from '../support/local-server.js';
import { WEB_CLIENT_CONFIG as FORM } from '../support/web-client-form.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

type Added = Readonly<{ success: boolean; task_id: string; source_id: string; warnings: string[] }>;
type Listed = Readonly<{ id?: string; name: string; config: unknown }>;

/** A form in which every field was changed. */
const TOUCHED = {
  kind: 'graphrag',
  chunking: { strategy: 'semantic', max_tokens: 200, min_tokens: 10, chunk_overlap: 20, duplicate_headers: true },
  retrieval: {
    retriever: 'graphrag',
    exposure: 'agentic_tool',
    chunks: 3,
    score_threshold: 0.4,
    rephrase_query: false,
    reranker: { model: 'cross' },
    prescreen: { candidate_k: 40, model: null, batch_size: 10, max_keep: 8 },
    graph: { seed_strategy: 'relationships', passage_nodes: true, blend_vector: true },
  },
  graph: { extraction_model: 'large', max_chunks: 100, gleanings: 1 },
};
const WITHOUT_EFFECT = [
  'kind',
  'chunking.strategy',
  'chunking.chunk_overlap',
  'chunking.duplicate_headers',
  'retrieval.exposure',
  'retrieval.score_threshold',
  'retrieval.reranker',
  'retrieval.prescreen',
  'retrieval.graph',
  'graph',
  'retrieval.retriever',
];
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const namesIn = (warnings: readonly string[]) => warnings.map((warning) => /^\S+/.exec(warning)![0]);

/** Ten sections that fit into one chunk or into many, depending on the settings. */
const DOCUMENT = Array.from({ length: 10 }, (_, index) => `# Room ${index}\n\n${`Room ${index} has seats. `.repeat(10)}`).join(
  '\n\n',
);

/** The config of sources, in the format and on all routes that the incumbent's clients use. */
export function sourceConfigStory(makeBacking: MakeBacking): void {
  let world: World;
  let site: LocalServer;
  let alice: Client;

  beforeAll(async () => {
    site = await LocalServer.started((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('The garage opens at six.');
    });
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: site.host }, makeBacking);
    ({ alice } = world);
  });
  afterAll(async () => {
    await world.close();
    await site.close();
  });

  const upload = (config: unknown, name = 'Rooms', headers: Readonly<Record<string, string>> = {}): Promise<Reply> => {
    const form = new FormData();
    form.append('file', new Blob([DOCUMENT]), 'rooms.md');
    for (const [field, value] of Object.entries({ name, user: 'local', config: JSON.stringify(config) }))
      form.append(field, value);
    return replyOf(alice.send('/api/upload', form, headers));
  };
  const remoteFields = () => ({ name: 'Site', user: 'local', source: 'url', data: JSON.stringify({ url: site.url }) });
  const remoteForm = (config: unknown): Promise<Reply> => {
    const form = new FormData();
    const fields = { ...remoteFields(), config: JSON.stringify(config) };
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    return replyOf(alice.send('/api/remote', form));
  };
  const remoteJson = (config: unknown): Promise<Reply> => replyOf(alice.post('/api/remote', { ...remoteFields(), config }));
  const ingested = async ({ task_id }: Added): Promise<void> =>
    eventually(async () => (await alice.json(`/api/task_status?task_id=${task_id}`))['status'] === 'SUCCESS');
  const added = async (adding: Promise<Reply>): Promise<Added> => {
    const { status, body } = await adding;
    expect(status).toBe(200);
    await ingested(body as Added);
    return body as Added;
  };
  const configOf = async (id: string) => (await alice.json<Listed[]>('/api/sources')).find((source) => source.id === id)?.config;
  const chunksOf = async (id: string) => (await alice.json<{ total: number }>(`/api/get_chunks?id=${id}`)).total;
  const configure = (id: string, config: unknown, client = alice): Promise<Reply> =>
    replyOf(client.patch(`/api/sources/${id}/config`, config));

  describe.each([
    ['an upload', upload],
    ['pages on the web, by a form', remoteForm],
    ['pages on the web, by JSON', remoteJson],
  ])('%s', (_, add) => {
    it('accepts the whole default form of the web client, without warnings', async () => {
      const source = await added(add(FORM));
      expect(source).toEqual({
        success: true,
        status: 'ok',
        task_id: expect.any(String),
        source_id: expect.any(String),
        warnings: [],
      });
      expect(await configOf(source.source_id)).toEqual(DEFAULT_SOURCE_CONFIG);
    });

    it('stores the whole form, applies what it supports, and warns of the rest', async () => {
      const source = await added(add(TOUCHED));
      expect(namesIn(source.warnings)).toEqual(WITHOUT_EFFECT);
      expect(await configOf(source.source_id)).toEqual(TOUCHED);
    });

    it('refuses an unknown value, and names its field', async () => {
      const { status, body } = await add({ ...FORM, retrieval: { ...FORM.retrieval, retriever: 'colour' } });
      expect(status).toBe(400);
      expect(body).toEqual({ success: false, message: 'Invalid source config: retrieval.retriever is not valid.' });
    });
  });

  it('a repeated upload returns the same warnings', async () => {
    const key = { 'idempotency-key': 'an upload' };
    const first = await added(upload(TOUCHED, 'Rooms', key));
    const again = await upload(TOUCHED, 'Rooms', key);
    expect([again.headers.get('idempotent-replayed'), again.body]).toEqual(['true', first]);
  });

  it('determines the size of the chunks', async () => {
    const [whole, small] = [await added(upload(FORM)), await added(upload(TOUCHED))];
    expect(await chunksOf(small.source_id)).toBeGreaterThan(await chunksOf(whole.source_id));
  });

  describe('a change', () => {
    let id: string;
    beforeAll(async () => {
      id = (await added(upload(FORM, 'Changing'))).source_id;
    });

    it('applies to the next search', async () => {
      const { key } = await world.agent({ source: id, chunks: 1 });
      const cut = { ...FORM, chunking: { ...FORM.chunking, max_tokens: 60, min_tokens: 0 } };
      await configure(id, cut);
      await added(replyOf(alice.post('/api/sources/reingest', { source_id: id })));
      const found = async () =>
        (await replyOf(world.nobody.post('/api/search', { question: 'Which room has seats?', api_key: key, chunks: 1 }))).body;
      expect(await found()).toHaveLength(1);
      const reply = await configure(id, { ...cut, retrieval: { ...FORM.retrieval, chunks: 4 } });
      expect(reply.body).toMatchObject({ success: true, requires_reingest: false, warnings: [] });
      expect(await found()).toHaveLength(4);
    });

    it('of the chunking applies to the next ingestion', async () => {
      await configure(id, FORM);
      await added(replyOf(alice.post('/api/sources/reingest', { source_id: id })));
      const before = await chunksOf(id);
      const { status, body } = await configure(id, TOUCHED);
      expect(status).toBe(200);
      expect(body).toEqual({ success: true, config: TOUCHED, requires_reingest: true, warnings: expect.any(Array) });
      expect(namesIn((body as Added).warnings)).toEqual(WITHOUT_EFFECT);
      expect(await configOf(id)).toEqual(TOUCHED);
      expect(await chunksOf(id)).toBe(before);
      const again = await added(replyOf(alice.post('/api/sources/reingest', { source_id: id })));
      expect(namesIn(again.warnings)).toEqual(WITHOUT_EFFECT);
      expect(await chunksOf(id)).toBeGreaterThan(before);
      expect((await configure(id, TOUCHED)).body).toMatchObject({ requires_reingest: false });
    });

    it('without a kind keeps it, and otherwise replaces the whole config', async () => {
      await configure(id, TOUCHED);
      const { body } = await configure(id, { retrieval: { chunks: 3 } });
      expect(body).toMatchObject({ config: { ...DEFAULT_SOURCE_CONFIG, kind: 'graphrag', retrieval: { chunks: 3 } } });
    });

    it('is refused if it is invalid, or if the source belongs to another user', async () => {
      const before = await configOf(id);
      for (const config of [[], 'classic', { colour: 'red' }, { kind: 'notes' }, { chunking: { max_tokens: 'many' } }]) {
        const { status, body } = await configure(id, config);
        expect(status).toBe(400);
        expect(body).toMatchObject({ success: false, message: expect.stringMatching(/config|body/) });
      }
      const notFound = { success: false, message: 'Source not found' };
      for (const reply of [configure(id, FORM, world.bob), configure(UNKNOWN_ID, FORM), configure('x', FORM)]) {
        expect(await reply).toMatchObject({ status: 404, body: notFound });
      }
      expect(await configure(id, FORM, world.nobody)).toMatchObject({ status: 401 });
      expect(await configOf(id)).toEqual(before);
    });
  });

  it('is described in the API reference', async () => {
    const { paths } = await alice.json<{ paths: Record<string, Record<string, object>> }>('/api/openapi.json');
    const answers = [
      paths['/api/upload']!['post'],
      paths['/api/remote']!['post'],
      paths['/api/sources/reingest']!['post'],
      paths['/api/sources/{id}/config']!['patch'],
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({
        responses: { 200: { content: { 'application/json': { schema: { properties: { warnings: { type: 'array' } } } } } } },
      });
    }
  });
}
