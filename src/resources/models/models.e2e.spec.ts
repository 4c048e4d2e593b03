import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Client } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { hang, refuse, say, ScriptedModelServer, think } from '../../../test/support/scripted-model-server.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';

let endpoint: ScriptedModelServer;
let service: TestService;
let client: Client;
beforeAll(async () => {
  endpoint = await ScriptedModelServer.start();
  endpoint.models = undefined;
  service = await serviceForTests({ OPENAI_BASE_URL: endpoint.url, DEFAULT_MODEL_ID: 'scripted' });
  client = new Client(service.url);
});
afterEach(() => endpoint.reset());
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

const ask = async () => (await client.stream({ question: 'Why is the sky blue?' })).frames.map(({ data }) => data);
const joined = (frames: Awaited<ReturnType<typeof ask>>, type: string) =>
  frames
    .filter((frame) => frame.type === type)
    .map((frame) => String(frame[type]))
    .join('');

it('the endpoint answers as soon as it is up, even if it was down when the service started', async () => {
  expect(await client.json('/api/models')).toEqual({ models: [], default_model_id: 'scripted', count: 0 });
  endpoint.always([...think('Light', ' scatters.'), ...say('Because', ' of', ' scattering.')]);
  const frames = await ask();
  expect([joined(frames, 'thought'), joined(frames, 'answer')]).toEqual(['Light scatters.', 'Because of scattering.']);
  expect(endpoint.completions[0]!.body).toMatchObject({ model: 'scripted', stream: true });
});

it('a refusal by the model ends the answer with an error text without internals', async () => {
  endpoint.always([refuse(401, 'Incorrect API key provided: sk-12345')]);
  const frames = await ask();
  expect(frames.slice(-3).map(({ type }) => type)).toEqual(['error', 'id', 'end']);
  expect(joined(frames, 'error')).toBe('The language model refused this service. Please tell whoever runs it.');
});

it('stopping an answer closes the request to the endpoint', async () => {
  endpoint.always([...say('One'), hang]);
  const answer = await client.stream({ question: 'Why?' }, (text) => text.includes('One'));
  const id = String(answer.frames[0]!.data['message_id']);
  expect((await client.post(`/api/messages/${id}/cancel`, '')).status).toBe(202);
  const rest = await client.resume(id);
  expect(rest.frames.at(-1)!.data).toMatchObject({ type: 'error', code: 'stopped' });
  await eventually(() => endpoint.completions.at(-1)!.closed);
});
