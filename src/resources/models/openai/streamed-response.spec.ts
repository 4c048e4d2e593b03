import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { APIConnectionError } from 'openai';
import { getGlobalDispatcher } from 'undici';
import { LocalServer } from '../../../../test/support/local-server.js';
import { failureOf } from './openai-failures.js';
import { OpenAiSpeech } from './openai-speech.js';
import { ANSWER_BYTES_MAX, AnswerTooLong, ERROR_BYTES_MAX, fetchStreamed, streamed } from './streamed-response.js';

const MODELS = { hearing: undefined, speaking: 's', voice: 'v' };

it('contains ERROR_BYTES_MAX bytes of an error, and the rest is not read', async () => {
  let pieces = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (out) => (pieces++ < 1_000 ? out.enqueue(Buffer.alloc(10_000, 'x')) : out.close()),
    cancel: () => void (cancelled = true),
  });
  const error = await streamed(new Response(body, { status: 400, headers: { 'x-a': 'b' } }), { body: '{"stream":true}' });
  expect([error.status, error.headers.get('x-a'), await error.text()]).toEqual([400, 'b', 'x'.repeat(ERROR_BYTES_MAX)]);
  expect([cancelled, pieces]).toEqual([true, expect.any(Number)]);
  expect(pieces).toBeLessThan(10);
});

it('contains a short error as it is', async () => {
  const error = await streamed(new Response('{"error":"why"}', { status: 404 }), {});
  expect([error.status, await error.text()]).toEqual([404, '{"error":"why"}']);
});

it('contains the start of an error whose connection is cut', async () => {
  let pieces = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (out) => (pieces++ === 0 ? out.enqueue(Buffer.from('{"error"')) : out.error(new Error('The connection was cut.'))),
  });
  const error = await streamed(new Response(body, { status: 401 }), {});
  expect([error.status, await error.text()]).toEqual([401, '{"error"']);
});

describe('an answer of an endpoint of the operator', () => {
  const PIECE = Buffer.alloc(1024 * 1024, ' ');
  /** Pieces with twice ANSWER_BYTES_MAX bytes. */
  const PIECES = 2 * (ANSWER_BYTES_MAX / PIECE.length);
  let server: LocalServer;
  let sent: number;
  beforeAll(async () => {
    server = await LocalServer.started(({ path }, response) => {
      sent = 0;
      response.statusCode = path === '/refused' ? 400 : 200;
      const pieces = function* () {
        for (; sent < PIECES; sent++) yield PIECE;
      };
      void pipeline(pieces, response).catch(() => undefined);
    });
  });
  afterAll(() => server.close());

  it.each([
    ['of a model', () => fetchStreamed(getGlobalDispatcher(), server.url, {})],
    ['of a voice', () => new OpenAiSpeech({ baseUrl: server.url }, MODELS).speak('Hello.', new AbortController().signal)],
  ])('%s is read up to ANSWER_BYTES_MAX bytes', async (_, read) => {
    const failure = await read().then(() => 'an answer', failureOf);
    expect(failure).toMatchObject({ name: 'ModelFailed', failure: 'bad-reply' });
    expect(sent).toBeLessThan(PIECES);
  });

  it('is read up to ERROR_BYTES_MAX bytes if it is an error', async () => {
    const error = await fetchStreamed(getGlobalDispatcher(), `${server.url}/refused`, {});
    expect([error.status, (await error.text()).length]).toEqual([400, ERROR_BYTES_MAX]);
    expect(sent).toBeLessThan(PIECES);
  });

  it('that is too long is a bad reply also when the client reports it', () => {
    const cause = new AnswerTooLong('An answer is too long.');
    expect(failureOf(new APIConnectionError({ cause })).failure).toBe('bad-reply');
  });
});
