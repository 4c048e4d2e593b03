import { expect, it } from '@jest/globals';
import { openAiClient } from './openai-client.js';

/** The text that an endpoint reads if this one is sent to it. */
async function read(text: string): Promise<unknown> {
  let body: unknown;
  const fetch = (async (_: unknown, init: RequestInit) => {
    body = init.body;
    return Response.json({ choices: [] });
  }) as typeof globalThis.fetch;
  await openAiClient({ fetch }).chat.completions.create({ model: 'm', messages: [{ role: 'user', content: text }] });
  return (JSON.parse(String(body)) as { messages: [{ content: unknown }] }).messages[0].content;
}

it.each([
  ['half of a pair', 'cut \ud83d here', 'cut \ufffd here'],
  ['the other half', '\udc00', '\ufffd'],
  ['halves in the wrong order', '\udc00\ud83d\ud83d', '\ufffd\ufffd\ufffd'],
  ['half of a pair after a backslash', 'C:\\\ud83d', 'C:\\\ufffd'],
])('sends a replacement character for %s, because endpoints refuse it', async (_, text, sent) => {
  expect(await read(text)).toBe(sent);
});

it.each(['whole 😀', 'as text: \\ud83d and \\\\ud83d'])('sends %j as it is', async (text) => {
  expect(await read(text)).toBe(text);
});
