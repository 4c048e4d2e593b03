import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ScriptedModelServer } from '../../../../test/support/scripted-model-server.js';
import { EMBEDDINGS_BATCH_MAX, OpenAiEmbeddings } from './openai-embeddings.js';

let server: ScriptedModelServer;
beforeAll(async () => (server = await ScriptedModelServer.start()));
afterAll(() => server.close());
const never = new AbortController().signal;

it('returns a vector for each text in order, also for several batches', async () => {
  const embeddings = new OpenAiEmbeddings({ baseUrl: server.url, model: 'scripted-embeddings' });
  const texts = Array.from({ length: EMBEDDINGS_BATCH_MAX + 2 }, (_, index) => `${'word '.repeat(index % 3)}other`);
  const vectors = await embeddings.embed(texts, never);
  expect([vectors.length, server.requests.length]).toEqual([texts.length, 2]);
  expect(vectors[3]).toEqual(vectors[0]);
  expect(vectors[1]).not.toEqual(vectors[0]);
  expect(server.requests[0]!.body.model).toBe('scripted-embeddings');
});

it('fails with the errors of language models', async () => {
  const embeddings = new OpenAiEmbeddings({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm' });
  await expect(embeddings.embed(['a'], never)).rejects.toMatchObject({ failure: 'unavailable', retriable: true });
});
