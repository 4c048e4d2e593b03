import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI, { APIError } from 'openai';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { Client, withoutRepeats } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { pngFile } from '../support/picture-files.js';
import { call, cut, say, type Step, think, until } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Asked = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>;
type Response = OpenAI.Responses.Response &
  Readonly<{ store: boolean; docsgpt: Readonly<{ conversation_id: string; tool_calls: unknown[] }> }>;
type Event = OpenAI.Responses.ResponseStreamEvent;

const PICK: OpenAI.Responses.Tool = {
  type: 'function',
  name: 'pick_colour',
  description: 'Asks the user',
  parameters: { type: 'object', properties: {} },
  strict: false,
};
const BLOCK_MESSAGE = 'That I keep to myself.';
const SECRET = `AKIA${'QRST'.repeat(4)}`;
const used = (promptTokens: number, completionTokens: number): Step => ({ do: 'usage', promptTokens, completionTokens });
const QUESTION = 'When is tea?';

/** OpenAI's own client with responses of an agent: complete, as events, in the background, and read again. */
export function openAiResponsesStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let folder: string;
  let agent: Readonly<{ id: string; key: string }>;
  let client: OpenAI;

  const clientFor = (key: string) => new OpenAI({ apiKey: key, baseURL: `${world.service.url}/v1`, maxRetries: 0 });

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { posted: post.requests.length }));
    folder = await mkdtemp(join(tmpdir(), 'models-'));
    await writeFile(join(folder, 'models.yaml'), 'models: { sees: { supported_attachment_types: [image/png] } }');
    const models = { MODEL_IDS: 'plain,sees', MODELS_FILE: join(folder, 'models.yaml') };
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', ...models }, makeBacking);
    const look = { name: 'look', method: 'GET', url: `${post.url}/look`, description: 'Looks', active: true };
    const config = { actions: { look: { ...look, require_approval: true } } };
    const tool = { name: 'api_tool', displayName: 'Shop', description: 'Looks', config, status: true };
    const { id: toolId } = (await (await world.alice.post('/api/create_tool', tool)).json()) as { id: string };
    agent = await world.agent({ tools: [toolId], allow_system_prompt_override: true });
    client = clientFor(agent.key);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    world.model.reset();
    post.requests.length = 0;
  });

  const create = async (asked: Asked, by = client, headers = {}) =>
    (await by.responses.create({ ...asked, stream: false }, { headers })) as Response;
  const eventsOf = async (asked: Asked, by = client, headers = {}) => {
    const events: Event[] = [];
    for await (const event of await by.responses.create({ ...asked, stream: true }, { headers })) events.push(event);
    return events;
  };
  const retrieved = async (id: string, by = client) => (await by.responses.retrieve(id)) as Response;
  const refusalOf = async (refused: Promise<unknown>) => {
    const error: unknown = await refused.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    const { status, type, code, param, message } = error as APIError;
    return { status, type, code, param, message };
  };
  const http = (key = agent.key) => new Client(world.service.url, { authorization: `Bearer ${key}` });
  const eventText = async (id: string, query = '') => (await http().get(`/v1/responses/${id}?stream=true${query}`)).text();
  const lastPrompt = () => world.model.completions.at(-1)!.body.messages;
  const typesOf = (events: readonly Event[]) => events.map(({ type }) => type.replace(/^response\./, ''));
  const textOf = (events: readonly Event[]) =>
    events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
  const idIn = (events: readonly Event[]) => (events[0] as OpenAI.Responses.ResponseCreatedEvent).response.id;

  it('answers with a single object, including the usage', async () => {
    world.model.next([...think('Four?'), ...say('At ', 'four.'), used(12, 3)]);
    const response = await create({ input: QUESTION, metadata: { who: 'Ann' }, temperature: 0.5, max_output_tokens: 9 });
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: agent.id,
      metadata: { who: 'Ann' },
      temperature: 0.5,
      output: [
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Four?' }] },
        { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'At four.' }] },
      ],
      usage: { input_tokens: 12, output_tokens: 3, total_tokens: 15 },
      error: null,
      incomplete_details: null,
    });
    expect([response.id, response.output_text]).toEqual([expect.stringMatching(/^resp_/), 'At four.']);
    expect(world.model.completions.at(-1)!.body).toMatchObject({ temperature: 0.5, max_tokens: 9 });
    expect(await retrieved(response.id)).toEqual(response);
  });

  it('streams typed events, numbered from 0 without a gap, which the official client assembles', async () => {
    world.model.next([...think('Four?'), ...say('At ', 'four.'), used(12, 3)]);
    const stream = client.responses.stream({ input: QUESTION });
    const events: Event[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(withoutRepeats(typesOf(events))).toEqual([
      ...['created', 'in_progress'],
      ...['output_item.added', 'content_part.added', 'reasoning_text.delta', 'reasoning_text.done'],
      ...['content_part.done', 'output_item.done'],
      ...['output_item.added', 'content_part.added', 'output_text.delta', 'output_text.done'],
      ...['content_part.done', 'output_item.done', 'completed'],
    ]);
    const final = await stream.finalResponse();
    expect([final.output_text, final.usage?.total_tokens]).toEqual(['At four.', 15]);
    expect(final.output).toMatchObject((await retrieved(final.id)).output);
  });

  it('is read again byte for byte, from the start and from each event', async () => {
    world.model.next([...think('Four?'), ...say('At ', 'four, ', 'as ever.'), used(12, 3)]);
    const live = await (await http().post('/v1/responses', { input: QUESTION, stream: true })).text();
    const id = (JSON.parse(/^event: response.created\ndata: (.*)$/m.exec(live)![1]!) as { response: Response }).response.id;
    expect(await eventText(id)).toBe(live);
    const records = live.split('\n\n').slice(0, -1);
    for (const after of [0, 5, records.length - 2, records.length - 1, records.length + 7]) {
      const rest = records.slice(after + 1).map((record) => `${record}\n\n`);
      expect(await eventText(id, `&starting_after=${after}`)).toBe(rest.join(''));
    }
  });

  describe('in the background', () => {
    it('returns at once, and continues by itself', async () => {
      let tell = () => {};
      world.model.next([...say('At '), until(new Promise<void>((resolve) => (tell = resolve))), ...say('four.')]);
      const begun = await create({ input: QUESTION, background: true });
      expect(['queued', 'in_progress']).toContain(begun.status);
      expect(begun.background).toBe(true);
      await eventually(async () => (await retrieved(begun.id)).output_text === 'At ');
      expect((await retrieved(begun.id)).status).toBe('in_progress');
      tell();
      await eventually(async () => (await retrieved(begun.id)).status === 'completed');
      expect((await retrieved(begun.id)).output_text).toBe('At four.');
    });

    it('continues after a cut from the last event', async () => {
      let tell = () => {};
      world.model.next([...say('At '), until(new Promise<void>((resolve) => (tell = resolve))), ...say('four.')]);
      const stream = await client.responses.create({ input: QUESTION, background: true, stream: true });
      const before: Event[] = [];
      for await (const event of stream) {
        before.push(event);
        if (event.type === 'response.output_text.delta') break;
      }
      expect(typesOf(before).slice(0, 3)).toEqual(['created', 'queued', 'in_progress']);
      tell();
      const after: Event[] = [];
      const { sequence_number: last } = before.at(-1)!;
      for await (const event of await client.responses.retrieve(idIn(before), { stream: true, starting_after: last }))
        after.push(event);
      const all = [...before, ...after];
      expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
      expect([textOf(all), all.at(-1)!.type]).toEqual(['At four.', 'response.completed']);
    });

    it('is cancelled permanently', async () => {
      world.model.next([...say('At '), { do: 'hang' }]);
      const { id } = await create({ input: QUESTION, background: true });
      await eventually(async () => (await retrieved(id)).output_text === 'At ');
      const cancelled = await client.responses.cancel(id);
      expect([cancelled.status, cancelled.output[0]]).toMatchObject([
        'cancelled',
        { status: 'incomplete', content: [{ text: 'At ' }] },
      ]);
      expect(await client.responses.cancel(id)).toEqual(cancelled);
      expect(await retrieved(id)).toMatchObject(cancelled);
      expect(typesOf((await eventText(id)).split('\n\n').slice(0, -1).map(eventIn)).at(-1)).toBe('incomplete');
    });

    it('has to be stored', async () => {
      expect(await refusalOf(create({ input: QUESTION, background: true, store: false }))).toMatchObject({
        status: 400,
        param: 'background',
      });
    });
  });

  describe('previous_response_id', () => {
    it('continues the conversation, or a branch of it if it has continued already', async () => {
      world.model.next(say('Hello Ann.'), say('You are Ann.'), say('Ann, still.'));
      const first = await create({ input: 'I am Ann.' });
      const second = await create({ input: 'Who am I?', previous_response_id: first.id });
      expect(second.docsgpt.conversation_id).toBe(first.docsgpt.conversation_id);
      expect(second.previous_response_id).toBe(first.id);
      expect(JSON.stringify(lastPrompt())).toContain('Hello Ann.');
      const branch = await create({ input: 'And now?', previous_response_id: first.id });
      expect(branch.docsgpt.conversation_id).not.toBe(first.docsgpt.conversation_id);
      expect(JSON.stringify(lastPrompt())).toContain('Hello Ann.');
      expect(JSON.stringify(lastPrompt())).not.toContain('You are Ann.');
    });

    it('begins a branch for all but one of the concurrent questions after a response', async () => {
      const first = await create({ input: 'I am Ann.' });
      const names = ['One?', 'Two?', 'Three?'];
      const all = await Promise.all(names.map((input) => create({ input, previous_response_id: first.id })));
      expect(new Set(all.map(({ docsgpt }) => docsgpt.conversation_id)).size).toBe(names.length);
      for (const [index, { id }] of all.entries()) {
        await create({ input: 'And?', previous_response_id: id });
        const prompt = JSON.stringify(lastPrompt());
        expect(names.filter((name) => prompt.includes(name))).toEqual([names[index]]);
      }
    });

    it('must name a response that exists and has ended', async () => {
      const unknown = { status: 400, code: 'previous_response_not_found', param: 'previous_response_id' };
      for (const id of [`resp_${newId()}`, 'resp_1', newId()])
        expect(await refusalOf(create({ input: QUESTION, previous_response_id: id }))).toMatchObject(unknown);
      world.model.next([{ do: 'hang' }]);
      const { id } = await create({ input: QUESTION, background: true });
      expect(await refusalOf(create({ input: QUESTION, previous_response_id: id }))).toMatchObject({
        status: 400,
        param: 'previous_response_id',
      });
      await client.responses.cancel(id);
    });
  });

  describe('a function of the caller', () => {
    const called = async (more: Partial<Asked> = {}) => {
      world.model.next([...say('Let me ask. '), call('c1', 'pick_colour', { of: 'tea' }), used(10, 2)]);
      world.model.next([...say('Green ', 'it is.'), used(20, 4)]);
      const response = await create({ input: QUESTION, tools: [PICK], ...more });
      const item = response.output.at(-1) as OpenAI.Responses.ResponseFunctionToolCallItem;
      expect(item).toMatchObject({ type: 'function_call', name: 'pick_colour', arguments: '{"of":"tea"}', status: 'completed' });
      return { response, item };
    };
    const outputOf = ({ call_id }: Readonly<{ call_id: string }>): OpenAI.Responses.ResponseInputItem => ({
      type: 'function_call_output',
      call_id,
      output: 'green',
    });

    it('is called, and the next response continues with its result', async () => {
      const { response, item } = await called();
      expect([response.status, response.output_text, response.usage?.total_tokens]).toEqual(['completed', 'Let me ask. ', 12]);
      const next = { previous_response_id: response.id, tools: [PICK] };
      expect(await refusalOf(create({ ...next, input: 'And?' }))).toMatchObject({ status: 400, param: 'input' });
      const events = await eventsOf({ ...next, input: [outputOf(item)] });
      expect([textOf(events), events.at(-1)!.type]).toEqual(['Green it is.', 'response.completed']);
      expect(lastPrompt().at(-1)).toMatchObject({ role: 'tool', content: 'green' });
      const id = idIn(events);
      expect(id).not.toBe(response.id);
      expect((await retrieved(id)).usage).toMatchObject({ input_tokens: 20, output_tokens: 4 });
      expect(await retrieved(response.id)).toEqual(response);
      expect(await refusalOf(create({ ...next, input: [outputOf(item)] }))).toMatchObject({
        status: 409,
        code: 'tool_call_not_pending',
      });
      expect((await client.responses.cancel(response.id)).status).toBe('completed');
    });

    it('is reported in events', async () => {
      world.model.next([call('c1', 'pick_colour', { of: 'tea' })]);
      const events = await eventsOf({ input: QUESTION, tools: [PICK] });
      expect(typesOf(events).slice(2)).toEqual([
        ...['output_item.added', 'function_call_arguments.delta', 'function_call_arguments.done', 'output_item.done'],
        'completed',
      ]);
    });

    it('works for clients that store nothing here and resend everything', async () => {
      const { response, item } = await called({ store: false });
      const { id: _, ...own } = item;
      const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }, own, outputOf(item)];
      const next = await create({ input, tools: [PICK], store: false });
      expect(next.output_text).toBe('Green it is.');
      expect(next.docsgpt.conversation_id).toBe(response.docsgpt.conversation_id);
      for (const id of [response.id, next.id]) expect(await refusalOf(retrieved(id))).toMatchObject({ status: 404 });
    });

    it('is never an approval: calls that require one are denied, even in the background', async () => {
      world.model.next([...say('Let me see. '), call('c1', 'look', {})], say('Not seen.'));
      const { id } = await create({ input: QUESTION, background: true });
      await eventually(async () => (await retrieved(id)).status === 'completed');
      const response = await retrieved(id);
      expect(response.output_text).toBe('Let me see. Not seen.');
      expect(response.docsgpt.tool_calls).toMatchObject([{ status: 'denied' }]);
      expect(post.requests).toEqual([]);
    });
  });

  it('is not found later if it is not stored', async () => {
    world.model.next(say('At four.'), say('At five.'));
    const response = await create({ input: QUESTION, store: false });
    expect([response.store, response.output_text]).toEqual([false, 'At four.']);
    expect(await refusalOf(retrieved(response.id))).toMatchObject({ status: 404, type: 'not_found_error' });
    const events = await eventsOf({ input: QUESTION, store: false });
    expect([textOf(events), typesOf(events)[0]]).toEqual(['At five.', 'created']);
  });

  it('is deleted at once, for every route and for current readers', async () => {
    world.model.next([...say('At '), { do: 'hang' }]);
    const { id } = await create({ input: QUESTION, background: true });
    await eventually(async () => (await retrieved(id)).output_text === 'At ');
    const open = http()
      .get(`/v1/responses/${id}?stream=true`)
      .then((response) => response.text());
    expect((await replyOf(http().delete(`/v1/responses/${id}`))).body).toEqual({ id, object: 'response', deleted: true });
    expect(await open).not.toContain('response.completed');
    for (const gone of [
      retrieved(id),
      client.responses.cancel(id),
      client.responses.delete(id),
      client.responses.inputItems.list(id) as Promise<unknown>,
    ])
      expect(await refusalOf(gone)).toMatchObject({ status: 404, type: 'not_found_error' });
    expect(await refusalOf(create({ input: QUESTION, previous_response_id: id }))).toMatchObject({ status: 400 });
    await eventually(() => world.model.completions.at(-1)!.closed);
  });

  it('is found only with keys of its agent', async () => {
    world.model.next(say('At four.'));
    const { id } = await create({ input: QUESTION });
    const other = await world.agent();
    for (const key of [other.key, newId()]) {
      const by = clientFor(key);
      const status = key === other.key ? 404 : 401;
      expect(await refusalOf(retrieved(id, by))).toMatchObject({ status });
      expect(await refusalOf(by.responses.cancel(id))).toMatchObject({ status });
      expect(await refusalOf(by.responses.delete(id))).toMatchObject({ status });
      expect(await refusalOf(by.responses.inputItems.list(id) as Promise<unknown>)).toMatchObject({ status });
    }
    expect((await replyOf(world.alice.get(`/v1/responses/${id}`))).status).toBe(401);
    expect((await retrieved(id)).status).toBe('completed');
  });

  it('is deleted with its conversation', async () => {
    world.model.next(say('At four.'));
    const { id, docsgpt } = await create({ input: QUESTION });
    expect((await world.alice.post(`/api/delete_conversation?id=${docsgpt.conversation_id}`, {})).status).toBe(200);
    expect(await refusalOf(retrieved(id))).toMatchObject({ status: 404 });
  });

  it('keeps the input, item by item, with pictures as attachment ids', async () => {
    world.model.next(say('A dot.'));
    const image_url = `data:image/png;base64,${Buffer.from(pngFile('dot.png').bytes).toString('base64')}`;
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url, detail: 'low' },
        ],
      },
    ];
    const { id } = await create({ model: 'sees', instructions: 'You see.', input });
    expect(lastPrompt()[0]).toMatchObject({ role: 'system', content: 'You see.\n\nBe brief.' });
    expect(JSON.stringify(lastPrompt())).toContain('data:image/png;base64,');
    const { data } = await client.responses.inputItems.list(id, { order: 'asc' });
    expect(data).toMatchObject([
      { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      { role: 'user', content: [{ text: 'What is this?' }, { type: 'input_image', detail: 'low', file_id: expect.any(String) }] },
    ]);
    const pages: unknown[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 1 })) pages.push(item);
    expect(pages).toEqual([...data].reverse());
  });

  it('matches the given schema', async () => {
    const schema = { type: 'object', properties: { hour: { type: 'number' } }, required: ['hour'], additionalProperties: false };
    world.model.next(say('{"hour":', '16}'));
    const parsed = await client.responses.parse({
      input: QUESTION,
      text: { format: { type: 'json_schema', name: 'tea', schema, strict: true } },
    });
    expect([parsed.output_text, parsed.output_parsed]).toEqual(['{"hour":16}', { hour: 16 }]);
  });

  it('ends as incomplete, without text, if a guardrail blocks the answer', async () => {
    const controls = [{ check: 'secrets', stage: 'output', action: 'block' }];
    const guardrails = { enabled: true, mode: 'scan_all', block_message: BLOCK_MESSAGE, controls };
    const guarded = await world.agent({ config: { guardrails } });
    const by = clientFor(guarded.key);
    world.model.next(say(`It is ${SECRET}.`), say(`It is ${SECRET}.`));
    const response = await create({ input: QUESTION }, by);
    expect([response.status, response.incomplete_details]).toEqual(['incomplete', { reason: 'content_filter' }]);
    expect(response.output.at(-1)).toMatchObject({ content: [{ type: 'refusal', refusal: BLOCK_MESSAGE }] });
    const events = await eventsOf({ input: QUESTION }, by);
    expect(typesOf(events).at(-1)).toBe('incomplete');
    expect(typesOf(events)).toContain('refusal.done');
    expect(JSON.stringify([response, events])).not.toContain(SECRET);
  });

  it('ends as failed if the model fails, and as incomplete if its token limit is reached', async () => {
    world.model.always([...say('At '), cut]);
    const failed = await create({ input: QUESTION });
    expect([failed.status, failed.error]).toMatchObject(['failed', { code: 'server_error' }]);
    expect((await eventsOf({ input: QUESTION })).at(-1)!.type).toBe('response.failed');
    world.model.always([...say('At f'), { do: 'finish', reason: 'length' }]);
    const short = await create({ input: QUESTION, max_output_tokens: 2 });
    expect([short.status, short.incomplete_details, short.output_text]).toEqual([
      'incomplete',
      { reason: 'max_output_tokens' },
      'At f',
    ]);
  });

  it('is created once per idempotency key', async () => {
    world.model.next(say('Once.'));
    const once = { 'Idempotency-Key': newId() };
    const first = await create({ input: QUESTION }, client, once);
    expect(await create({ input: QUESTION }, client, once)).toEqual(first);
    expect(await refusalOf(create({ input: QUESTION, metadata: { a: 'b' } }, client, once))).toMatchObject({ status: 422 });
    expect(world.model.completions).toHaveLength(1);
  });

  it('lists parameters that have no effect', async () => {
    world.model.next(say('Hello.'));
    const { key } = await world.agent();
    const sent = {
      input: QUESTION,
      instructions: 'Arr.',
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
    };
    const { status, headers } = await replyOf(http(key).post('/v1/responses', sent));
    expect([status, headers.get('x-ignored-parameters')]).toEqual([200, 'reasoning, include, instructions']);
  });

  it('warns about settings of its agent that this service does not support', async () => {
    world.model.next(say('Hello.'));
    const { key } = await world.agent({ retriever: 'graphrag' });
    const { body } = await replyOf(http(key).post('/v1/responses', { input: QUESTION }));
    expect(body).toMatchObject({ docsgpt: { warnings: [expect.stringContaining('graphrag')] } });
  });

  it.each<[string, object]>([
    ['input', {}],
    ['input', { input: [] }],
    ['input', { input: 'x'.repeat(131_073) }],
    ['instructions', { input: QUESTION, instructions: 'x'.repeat(65_537) }],
    ['input[0].type', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0].role', { input: [{ role: 'critic', content: 'Be brief.' }] }],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
    [
      'input[0].content[0].image_url',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a.b/c' }] }] },
    ],
    ['input[0].content[0].file_url', { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a.b/c' }] }] }],
    ['input[0].call_id', { input: [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }] }],
    ['tools[0].type', { input: QUESTION, tools: [{ type: 'web_search' }] }],
    ['tool_choice', { input: QUESTION, tool_choice: 'required' }],
    ['conversation', { input: QUESTION, conversation: 'conv_1' }],
    ['prompt', { input: QUESTION, prompt: { id: 'pmpt_1' } }],
    ['context_management', { input: QUESTION, context_management: [] }],
    ['include[0]', { input: QUESTION, include: ['file_search_call.results'] }],
    ['truncation', { input: QUESTION, truncation: 'disabled' }],
    ['metadata.a', { input: QUESTION, metadata: { a: 1 } }],
    ['text.format.type', { input: QUESTION, text: { format: { type: 'grammar' } } }],
    ['text.format', { input: QUESTION, text: { format: { type: 'json_schema', name: 'x', schema: { type: 'tea' } } } }],
    ['temperature', { input: QUESTION, temperature: 3 }],
    ['max_output_tokens', { input: QUESTION, max_output_tokens: 0 }],
    ['model', { input: QUESTION, model: 'nobody' }],
    ['stream_options.include_obfuscation', { input: QUESTION, stream: true, stream_options: { include_obfuscation: true } }],
  ])('names what it does not support: %s', async (param, asked) => {
    const refusal = await refusalOf(client.responses.create(asked as never));
    expect(refusal).toMatchObject({ status: 400, type: 'invalid_request_error', param });
    expect(refusal.message).toContain(param);
    expect(world.model.completions).toEqual([]);
  });
}

/** The event in a record of the stream. */
const eventIn = (record: string): Event => JSON.parse(record.slice(record.indexOf('data: ') + 'data: '.length)) as Event;
