import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { tokenFor } from '../support/access-tokens.js';
import type { Client } from '../support/client.js';
import { everythingStored } from '../support/everything-stored.js';
import { refuse, say } from '../support/scripted-model-server.js';
import { addedSource } from '../support/sources.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const PROVIDERS_KEY = 'sk-provider-0123456789-of-nobody-else';
const older = (more: object = {}) => ({
  question: 'When is tea?',
  history: '',
  api_key: PROVIDERS_KEY,
  embeddings_key: PROVIDERS_KEY,
  active_docs: 'default',
  ...more,
});

type ApiKey = Readonly<{ id: string; name: string; key: string; source: string }>;

/** Clients from before there were agents: what they send, and what they read. */
export function olderDialectStory(makeBacking: MakeBacking): void {
  let world: World;
  let source: string;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    source = await addedSource(world.alice, 'Handbook', '# Tea\n\nTea is at four.');
  });
  afterAll(() => world.close());

  const answered = (body: object, client: Client = world.alice) => replyOf(client.post('/api/answer', body));
  const keyOfLastCall = () => world.model.completions.at(-1)?.headers.authorization;

  describe('a question with the key of a provider', () => {
    it('is answered with that key, from the sources it names and with its history', async () => {
      world.model.next(say('At ', 'four.'));
      const history = [{ prompt: 'Hi', response: 'Hello there' }];
      const { status, body } = await answered(older({ active_docs: source, history }));
      expect([status, body]).toEqual([200, { answer: 'At four.', query: 'When is tea?', result: 'At four.' }]);
      expect(keyOfLastCall()).toBe(`Bearer ${PROVIDERS_KEY}`);
      const asked = JSON.stringify(world.model.completions.at(-1)!.body);
      expect(asked).toContain('Tea is at four.');
      expect(asked).toContain('Hello there');
    });

    it.each([['local/Handbook/'], ['Handbook'], [['local/Handbook/', 'default']]])(
      'is answered from a source that it names as clients from before there were ids: %j',
      async (docs) => {
        world.model.next(say('At ', 'four.'));
        expect((await answered(older({ active_docs: docs }))).status).toBe(200);
        expect(JSON.stringify(world.model.completions.at(-1)!.body)).toContain('Tea is at four.');
        expect(await answered(older({ active_docs: docs }), world.bob)).toMatchObject({
          status: 404,
          body: { error: 'Source not accessible' },
        });
      },
    );

    it('stores neither the key nor a conversation', async () => {
      expect((await answered(older())).status).toBe(200);
      await world.quietHead();
      const holding: string[] = [];
      for await (const { where, text } of everythingStored(world)) if (text.includes(PROVIDERS_KEY)) holding.push(where);
      expect(holding).toEqual([]);
      expect(await world.alice.json('/api/get_conversations')).toEqual([]);
    });

    it('is refused without a session, for another user’s sources, and with invalid fields', async () => {
      expect((await answered(older(), world.nobody)).status).toBe(401);
      expect(await answered(older({ active_docs: source }), world.bob)).toMatchObject({
        status: 404,
        body: { error: 'Source not accessible' },
      });
      expect(await answered(older({ question: '' }))).toMatchObject({ status: 400 });
      expect((await answered(older(), (await tokenFor(world, { scopes: ['agents:read'] })).client)).status).toBe(403);
    });

    it('reports a refusal of the provider, without the key', async () => {
      world.model.next([refuse(401, `Incorrect API key provided: ${PROVIDERS_KEY}`)]);
      const { status, text } = await answered(older());
      expect(status).toBe(400);
      expect(text).not.toContain(PROVIDERS_KEY);
    });
  });

  describe('a question with the key of an agent', () => {
    it('is an ordinary question, and also answered with the older fields', async () => {
      const { key } = await world.agent();
      world.model.next(say('Five.'));
      const { status, body } = await answered(older({ api_key: key, sender: '7' }), world.nobody);
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ conversation_id: expect.any(String), answer: 'Five.', query: 'When is tea?', result: 'Five.' }),
      ]);
      expect(keyOfLastCall()).toBe('Bearer scripted');
      const newer = await answered({ question: 'Again?', api_key: key }, world.nobody);
      expect(newer.body).not.toHaveProperty('result');
    });
  });

  describe('keys', () => {
    it('are created, listed masked, used and deleted', async () => {
      const fields = { name: 'Shop', source, prompt_id: 'default', chunks: '2' };
      const { status, body } = await replyOf(world.alice.post('/api/create_api_key', fields));
      expect([status, body]).toEqual([200, { id: expect.any(String), key: expect.any(String) }]);
      const { id, key } = body as ApiKey;
      const listed = await world.alice.json<readonly ApiKey[]>('/api/get_api_keys');
      expect(listed).toContainEqual({ id, name: 'Shop', key: `${key.slice(0, 4)}...${key.slice(-4)}`, source });
      expect((await answered({ question: 'Tea?', api_key: key }, world.nobody)).status).toBe(200);
      expect((await world.bob.post('/api/delete_api_key', { id })).status).toBe(404);
      expect(await replyOf(world.alice.post('/api/delete_api_key', { id }))).toMatchObject({
        status: 200,
        body: { status: 'ok' },
      });
      expect((await answered({ question: 'Tea?', api_key: key }, world.nobody)).status).toBe(401);
    });

    it.each([
      [{ prompt_id: 'default', chunks: 2 }, 'Missing required fields: name'],
      [{ name: 'Shop', chunks: 2 }, 'Missing required fields: prompt_id'],
      [{ name: 'Shop', prompt_id: 'default', chunks: 'two' }, 'chunks must'],
    ])('are not created from %j', async (fields, message) => {
      const { status, body } = await replyOf(world.alice.post('/api/create_api_key', fields));
      expect([status, body]).toEqual([400, { success: false, message: expect.stringContaining(message) }]);
    });
  });

  describe('sources', () => {
    it('are searched by their owner', async () => {
      const tried = (body: object, client = world.alice) => replyOf(client.post(`/api/sources/${source}/search`, body));
      const { status, body } = await tried({ query: 'When is tea?', retrieval: { chunks: 1 } });
      expect([status, body]).toEqual([
        200,
        {
          ...{ success: true, query: 'When is tea?', retriever: 'classic', total: 1, latency_ms: expect.any(Number) },
          retrieval: expect.objectContaining({ chunks: 1 }),
          chunks: [
            {
              ...{ rank: 1, text: expect.stringContaining('Tea is at four.'), title: expect.any(String) },
              ...{ filename: 'source.md', source: 'Handbook', tokens: expect.any(Number), score: expect.any(Number) },
              score_kind: 'rank_fusion',
            },
          ],
        },
      ]);
      expect(await tried({ query: 'Tea?' }, world.bob)).toMatchObject({ status: 404 });
      expect(await tried({ query: '' })).toMatchObject({ status: 400 });
      expect(await tried({ query: 'Tea?', retrieval: { chunks: 0 } })).toMatchObject({ status: 400 });
    });

    it('are checked by name, id or path', async () => {
      const statusOf = async (docs: string, client = world.alice) =>
        (await replyOf(client.post('/api/docs_check', { docs }))).body;
      for (const docs of ['default', 'Handbook', source, 'local/Handbook/'])
        expect(await statusOf(docs)).toEqual({ status: 'exists' });
      expect(await statusOf('Nowhere')).toEqual({ status: 'not found' });
      expect(await statusOf('Handbook', world.bob)).toEqual({ status: 'not found' });
      expect((await world.nobody.post('/api/docs_check', { docs: 'default' })).status).toBe(401);
    });

    it('are listed with the fields of older clients, and deleted by their task', async () => {
      const form = new FormData();
      form.set('name', 'Old');
      form.set('user', 'local');
      form.set('file', new Blob(['Old news.']), 'old.txt');
      const { task_id: task } = (await replyOf(world.alice.send('/api/upload', form))).body as { task_id: string };
      const [, newest] = await world.alice.json<readonly Record<string, unknown>[]>('/api/combine');
      const fields = ['date', 'description', 'docLink', 'fullName', 'language', 'location', 'model', 'name', 'version'];
      expect(Object.keys(newest!).toSorted()).toEqual(fields);
      expect(newest).toMatchObject({ name: 'Old', location: 'local' });
      expect(await replyOf(world.alice.get(`/api/delete_old?task_id=${task}`))).toMatchObject({
        status: 200,
        body: { status: 'ok' },
      });
    });
  });
}
