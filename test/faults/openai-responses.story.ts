import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { MakeBacking } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { hang, say, think } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';

type Event = OpenAI.Responses.ResponseStreamEvent;

const QUESTION = 'When is tea?';

/** A process is killed while it streams a response. The next one sends the same events, and continues their sequence numbers. */
export function openAiResponseKillsStory(makeBacking: MakeBacking): void {
  let running: ScriptedProcess;
  let client: OpenAI;
  let http: Client;

  beforeAll(async () => {
    running = await startScriptedProcess({ TITLE_MODEL_ID: 'none' }, { backing: await makeBacking(), standbys: 1 });
    const agent = { name: 'Guide', description: '-', chunks: 4, retriever: 'classic', prompt_id: 'default', status: 'published' };
    const { key } = (await (await running.client.post('/api/create_agent', agent)).json()) as { key: string };
    client = new OpenAI({ apiKey: key, baseURL: `${running.service.url}/v1`, maxRetries: 0 });
    http = new Client(running.service.url, { authorization: `Bearer ${key}` });
  });
  afterAll(() => running.close());
  beforeEach(() => running.model.reset());

  const killed = async () => {
    await running.service.kill();
    await running.service.start();
  };
  const textOf = async (id: string) => (await http.get(`/v1/responses/${id}?stream=true`)).text();

  it('a response that had ended is read the same, byte for byte', async () => {
    running.model.next([...think('Four?'), ...say('At ', 'four.')]);
    const live = await (await http.post('/v1/responses', { input: QUESTION, stream: true })).text();
    const id = /"id":"(resp_[^"]+)"/.exec(live)![1]!;
    await killed();
    expect(await textOf(id)).toBe(live);
    expect((await client.responses.retrieve(id)).output_text).toBe('At four.');
  });

  it('a background response continues with the next sequence number, and ends', async () => {
    running.model.next([...say('At '), hang]);
    const before: Event[] = [];
    const stream = await client.responses.create({ input: QUESTION, background: true, stream: true });
    for await (const event of stream) {
      before.push(event);
      if (event.type === 'response.output_text.delta') break;
    }
    const { id } = (before[0] as OpenAI.Responses.ResponseCreatedEvent).response;
    await killed();
    await eventually(async () => (await client.responses.retrieve(id)).status === 'failed');
    const after: Event[] = [];
    const { sequence_number: last } = before.at(-1)!;
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last })) after.push(event);
    const all = [...before, ...after];
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
    expect(all.at(-1)!.type).toBe('response.failed');
    const text = await textOf(id);
    expect(text).toBe(all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    await killed();
    expect(await textOf(id)).toBe(text);
  });
}
