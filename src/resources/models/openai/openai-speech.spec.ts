import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answerJson, LocalServer } from '../../../../test/support/local-server.js';
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
  speech.transcribe({ filename: 'a.wav', bytes: Buffer.from('RIFF') }, undefined, signal).then(({ text }) => text, failureOf);
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
