import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ScriptedModelServer } from '../../../../test/support/scripted-model-server.js';
import { tracesIn } from '../../../../test/support/traces.js';
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

it('leaves nothing in a signal that lives longer', async () => {
  const { signal } = new AbortController();
  await new OpenAiEmbeddings({ baseUrl: server.url, model: 'm' }).embed(['a'], signal);
  expect(tracesIn(signal)).toBe(0);
});

it('fails with the errors of language models', async () => {
  const embeddings = new OpenAiEmbeddings({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm' });
  await expect(embeddings.embed(['a'], never)).rejects.toMatchObject({ failure: 'unavailable', retriable: true });
});

it.each(['[]', '[1, null]', '[1, "2"]', '[1e300, 1]', '[1, 2], [3]'])(
  'fails on vectors that cannot be compared: %s',
  async (vectors) => {
    const data = vectors.split('], ').map((vector, index) => `{"index":${index},"embedding":${vector.replace(/]?$/, ']')}}`);
    const odd = createServer((_, response) =>
      response.setHeader('content-type', 'application/json').end(`{"data":[${data.join()}]}`),
    );
    await new Promise<void>((listening) => odd.listen(0, '127.0.0.1', listening));
    const baseUrl = `http://127.0.0.1:${(odd.address() as AddressInfo).port}/v1`;
    const embeddings = new OpenAiEmbeddings({ baseUrl, model: 'm' });
    await expect(embeddings.embed(data.map(String), never)).rejects.toMatchObject({ failure: 'bad-reply' });
    odd.close();
  },
);
