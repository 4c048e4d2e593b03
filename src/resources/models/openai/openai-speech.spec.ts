import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answerJson, LocalServer, type ReceivedRequest } from '../../../../test/support/local-server.js';
import { failureOf } from './openai-failures.js';
import { OpenAiSpeech } from './openai-speech.js';
import { fetchBounded } from './streamed-response.js';

let endpoint: LocalServer;
let speech: OpenAiSpeech;
beforeAll(async () => {
  endpoint = await LocalServer.started();
  speech = new OpenAiSpeech({ baseUrl: endpoint.url }, { hearing: 'ears', speaking: 'mouth', voice: 'nova' });
});
afterAll(() => endpoint.close());

const { signal } = new AbortController();
const heard = () =>
  speech.transcribe({ filename: 'a.wav', content: new Blob(['RIFF']) }, undefined, signal).then(({ text }) => text, failureOf);
const BAD_REPLY = { name: 'ModelFailed', failure: 'bad-reply' };

it.each([null, [], 'Hello.', {}, { text: 5 }])('%j is no transcript', async (reply) => {
  endpoint.answer = (_, response) => answerJson(response, reply);
  expect(await heard()).toMatchObject(BAD_REPLY);
});

it('a page is neither a transcript nor a recording', async () => {
  endpoint.answer = (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
  expect(await heard()).toMatchObject(BAD_REPLY);
  expect(await speech.speak('Hello.', signal).catch(failureOf)).toMatchObject(BAD_REPLY);
});

it('a transcript may be empty, and half of a character in it is replaced', async () => {
  endpoint.answer = (_, response) => answerJson(response, { text: '' });
  expect(await heard()).toBe('');
  endpoint.answer = (_, response) => answerJson(response, { text: 'a\ud800b' });
  expect(await heard()).toBe('a\ufffdb');
});

it('an answer that never ends is not waited for longer than the client allows', async () => {
  endpoint.answer = (_, response) => void response.writeHead(200).write('{');
  await expect(fetchBounded(endpoint.url, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('a recording on disk is sent whole, with its name and its length', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'verbatim-test-')), '0');
  const bytes = 'RIFF'.repeat(100_000);
  await writeFile(path, bytes);
  endpoint.requests.length = 0;
  endpoint.answer = (_, response) => answerJson(response, { text: 'Hello.' });
  await speech.transcribe({ filename: 'a.wav', content: await openAsBlob(path) }, undefined, signal);
  const [{ body, headers }] = endpoint.requests as [ReceivedRequest];
  expect(body.includes(bytes)).toBe(true);
  expect(body).toContain('filename="a.wav"');
  expect(headers['content-length']).toBe(String(body.length));
  await rm(dirname(path), { recursive: true });
});

it('a client that left is not a failure of the endpoint', async () => {
  const gone = new AbortController();
  endpoint.answer = () => gone.abort();
  const recording = { filename: 'a.wav', content: new Blob(['RIFF']) };
  await expect(speech.transcribe(recording, undefined, gone.signal)).rejects.toMatchObject({ name: 'AbortError' });
  await expect(speech.speak('Hello.', gone.signal)).rejects.toMatchObject({ name: 'AbortError' });
});
