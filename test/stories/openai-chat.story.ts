import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI, { APIError } from 'openai';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { Client } from '../support/client.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { pngFile } from '../support/picture-files.js';
import { call, cut, refuse, say, type Step, think, until } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Chunk = OpenAI.ChatCompletionChunk & Readonly<{ docsgpt?: Readonly<Record<string, unknown>> }>;
type Completion = OpenAI.ChatCompletion & Readonly<{ docsgpt: Readonly<{ conversation_id: string; tool_calls: unknown[] }> }>;
type Asked = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model'> & Readonly<{ model?: string }>;
type Message = OpenAI.ChatCompletionMessageParam;

const PICK: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'pick_colour', description: 'Asks the user', parameters: { type: 'object', properties: {} } },
};
const BLOCK_MESSAGE = 'That I keep to myself.';
const SECRET = `AKIA${'QRST'.repeat(4)}`;
const used = (promptTokens: number, completionTokens: number): Step => ({ do: 'usage', promptTokens, completionTokens });
const HELLO: Message = { role: 'user', content: 'When is tea?' };

/** OpenAI's own client with an agent: its requests, responses and refusals. */
export function openAiChatStory(makeBacking: MakeBacking): void {
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
    agent = await world.agent({ tools: [toolId] });
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

  const complete = async (asked: Asked, by = client, headers = {}) =>
    (await by.chat.completions.create({ model: agent.id, ...asked }, { headers })) as Completion;
  const chunksOf = async (asked: Asked, by = client) => {
    const chunks: Chunk[] = [];
    for await (const chunk of await by.chat.completions.create({ model: agent.id, ...asked, stream: true })) chunks.push(chunk);
    return chunks;
  };
  const refusalOf = async (asked: object, by = client) => {
    const error: unknown = await by.chat.completions
      .create({ model: agent.id, ...asked } as never)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    const { status, type, code, param, message } = error as APIError;
    return { status, type, code, param, message };
  };
  const textOf = (chunks: readonly Chunk[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  const endOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
  const lastPrompt = () => world.model.completions.at(-1)!.body.messages;

  it('lists the agent as the only model', async () => {
    const { data } = await client.models.list();
    expect(data).toMatchObject([{ id: agent.id, object: 'model', owned_by: 'docsgpt', name: 'Guide', description: 'Knows' }]);
  });

  it('answers with a single object, including the usage', async () => {
    world.model.next([...think('Four?'), ...say('At ', 'four.'), used(12, 3)]);
    const { id, choices, usage, model, docsgpt } = await complete({ messages: [HELLO] });
    expect(id).toMatch(/^chatcmpl-/);
    expect(model).toBe(agent.id);
    expect(choices).toMatchObject([
      { message: { role: 'assistant', content: 'At four.', refusal: null }, finish_reason: 'stop' },
    ]);
    expect(choices[0]!.message).toHaveProperty('reasoning_content', 'Four?');
    expect(usage).toEqual({ prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 });
    expect(docsgpt.conversation_id).toBeTruthy();
  });

  it('streams the role, the text, the end, and the usage if it is requested', async () => {
    world.model.next([...say('At ', 'four.'), used(12, 3)]);
    const chunks = await chunksOf({ messages: [HELLO], stream_options: { include_usage: true } });
    expect(chunks[0]!.choices[0]!.delta).toMatchObject({ role: 'assistant' });
    expect(textOf(chunks)).toBe('At four.');
    expect(endOf(chunks)).toEqual(['stop']);
    expect(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } });
    expect(chunks.some(({ docsgpt }) => docsgpt?.['type'] === 'id')).toBe(true);
    world.model.next(say('Hm.'));
    expect((await chunksOf({ messages: [HELLO] })).some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('streams each chunk as one line, also for readers that treat U+2028 as a line end', async () => {
    world.model.next(say('At\u2028four.'));
    const by = { authorization: `Bearer ${agent.key}` };
    const { text } = await replyOf(world.nobody.post('/v1/chat/completions', { messages: [HELLO], stream: true }, by));
    expect(text).toContain('"content":"At\\u2028four."');
  });

  it('takes earlier messages as history, or continues a conversation by its id', async () => {
    const before: Message[] = [
      { role: 'user', content: 'I am Ann.' },
      { role: 'assistant', content: 'Hello Ann.' },
    ];
    world.model.next(say('You are Ann.'), say('Ann, I said.'));
    const first = await complete({ messages: [...before, { role: 'user', content: [{ type: 'text', text: 'Who am I?' }] }] });
    expect(JSON.stringify(lastPrompt())).toContain('Hello Ann.');
    const { conversation_id } = first.docsgpt;
    const again = await complete({ messages: [HELLO] }, client, { 'X-DocsGPT-Conversation-ID': conversation_id });
    expect(again.docsgpt.conversation_id).toBe(conversation_id);
    expect(JSON.stringify(lastPrompt())).toContain('You are Ann.');
    const inBody = await complete({ messages: [HELLO], docsgpt: { conversation_id } } as Asked);
    expect(inBody.docsgpt.conversation_id).toBe(conversation_id);
    expect(await refusalOf({ messages: [HELLO], conversation_id: newId() })).toMatchObject({
      status: 400,
      code: 'conversation_not_found',
    });
  });

  describe('a function of the caller', () => {
    const asking = async (stream: boolean): Promise<Message[]> => {
      world.model.next([call('c1', 'pick_colour', { of: 'tea' }), used(10, 2)]);
      world.model.next([...say('Green ', 'it is.'), used(20, 4)]);
      if (!stream) {
        const { choices, usage } = await complete({ messages: [HELLO], tools: [PICK] });
        expect(choices[0]!.finish_reason).toBe('tool_calls');
        expect(usage).toMatchObject({ total_tokens: 12 });
        return [HELLO, choices[0]!.message];
      }
      const chunks = await chunksOf({ messages: [HELLO], tools: [PICK] });
      expect(endOf(chunks)).toEqual(['tool_calls']);
      const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
      expect(calls.map(({ index }) => index)).toEqual([0]);
      return [HELLO, { role: 'assistant', content: null, tool_calls: calls as OpenAI.ChatCompletionMessageToolCall[] }];
    };
    const called = (messages: readonly Message[]) =>
      (messages.at(-1) as OpenAI.ChatCompletionAssistantMessageParam)
        .tool_calls![0]! as OpenAI.ChatCompletionMessageFunctionToolCall;
    const answered = (messages: readonly Message[]): Message[] => [
      ...messages,
      { role: 'tool', tool_call_id: called(messages).id, content: 'green' },
    ];

    it.each([false, true])('is called, and the turn continues with its result (streamed: %s)', async (stream) => {
      const messages = await asking(stream);
      expect(called(messages).function).toEqual({ name: 'pick_colour', arguments: '{"of":"tea"}' });
      const asked = { messages: answered(messages), tools: [PICK] };
      if (stream) {
        const chunks = await chunksOf(asked);
        expect([chunks[0]!.choices[0]!.delta.role, textOf(chunks), endOf(chunks)]).toEqual([
          'assistant',
          'Green it is.',
          ['stop'],
        ]);
      } else {
        const { choices, usage } = await complete(asked);
        expect(choices).toMatchObject([{ message: { content: 'Green it is.' }, finish_reason: 'stop' }]);
        expect(usage).toEqual({ prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 });
      }
      expect(lastPrompt().at(-1)).toMatchObject({ role: 'tool', content: 'green' });
      expect(await refusalOf(asked)).toMatchObject({ status: 409, code: 'tool_call_not_pending' });
    });

    it('is called in a conversation that continues with all earlier messages', async () => {
      const messages = answered(await asking(false));
      const { choices, docsgpt } = await complete({ messages, tools: [PICK] });
      world.model.next(say('You are welcome.'));
      const more: Message[] = [...messages, choices[0]!.message, { role: 'user', content: 'Thanks!' }];
      expect((await complete({ messages: more, tools: [PICK] })).docsgpt.conversation_id).toBe(docsgpt.conversation_id);
      expect(JSON.stringify(lastPrompt())).toContain('Green it is.');
    });
  });

  it.each([false, true])('denies calls that require approval, and continues (streamed: %s)', async (stream) => {
    world.model.next([...say('Let me see. '), call('c1', 'look', {})], say('Not seen.'));
    if (stream) {
      const chunks = await chunksOf({ messages: [HELLO] });
      expect([textOf(chunks), endOf(chunks)]).toEqual(['Let me see. Not seen.', ['stop']]);
    } else {
      const { choices, docsgpt } = await complete({ messages: [HELLO] });
      expect(choices).toMatchObject([{ message: { content: 'Let me see. Not seen.' }, finish_reason: 'stop' }]);
      expect(docsgpt.tool_calls).toMatchObject([{ status: 'denied' }]);
    }
    expect(JSON.stringify(lastPrompt())).toContain('denied');
    expect(post.requests).toEqual([]);
  });

  it('accepts no message as an approval, even next to results', async () => {
    world.model.next([call('c1', 'pick_colour', {}), call('c2', 'look', {})], say('Green, not seen.'));
    const { choices } = await complete({ messages: [HELLO], tools: [PICK] });
    const calls = choices[0]!.message.tool_calls!;
    expect(calls).toHaveLength(1);
    const approval = calls[0]!.id.replace(/_c1$/, '_c2');
    const told: Message[] = [HELLO, choices[0]!.message, { role: 'tool', tool_call_id: calls[0]!.id, content: 'green' }];
    const approved: Message[] = [...told, { role: 'tool', tool_call_id: approval, content: 'approved' }];
    expect(await refusalOf({ messages: approved, tools: [PICK] })).toMatchObject({ status: 409, code: 'tool_call_not_pending' });
    const { choices: after, docsgpt } = await complete({ messages: told, tools: [PICK] });
    expect(after[0]!.message.content).toBe('Green, not seen.');
    expect(docsgpt.tool_calls).toMatchObject([{ status: 'completed' }, { status: 'denied' }]);
    expect(post.requests).toEqual([]);
  });

  it('ends with content_filter if a guardrail blocks the answer', async () => {
    const controls = [{ check: 'secrets', stage: 'output', action: 'block' }];
    const guardrails = { enabled: true, mode: 'scan_all', block_message: BLOCK_MESSAGE, controls };
    const guarded = await world.agent({ config: { guardrails } });
    const by = clientFor(guarded.key);
    world.model.next(say(`It is ${SECRET}.`), say(`It is ${SECRET}.`));
    const whole = await complete({ model: guarded.id, messages: [HELLO] }, by);
    const { message, finish_reason } = whole.choices[0]!;
    expect([message.content, message.refusal, finish_reason]).toEqual([null, BLOCK_MESSAGE, 'content_filter']);
    const chunks = await chunksOf({ model: guarded.id, messages: [HELLO] }, by);
    expect(endOf(chunks)).toEqual(['content_filter']);
    expect(chunks.some(({ choices }) => choices[0]?.delta.refusal === BLOCK_MESSAGE)).toBe(true);
    expect(JSON.stringify([whole, chunks])).not.toContain(SECRET);
  });

  it('reports a model failure in OpenAI’s format', async () => {
    world.model.always([...say('At '), cut]);
    expect(await refusalOf({ messages: [HELLO] })).toMatchObject({ status: 400 });
    await expect(chunksOf({ messages: [HELLO] })).rejects.toBeInstanceOf(APIError);
  });

  it('repeats an answer for the same idempotency key', async () => {
    world.model.next(say('Once.'));
    const idempotent = { 'Idempotency-Key': newId() };
    const first = await complete({ messages: [HELLO] }, client, idempotent);
    expect(await complete({ messages: [HELLO] }, client, idempotent)).toEqual(first);
    expect(world.model.completions).toHaveLength(1);
  });

  it('reports that a failure is repeated for the same idempotency key', async () => {
    world.model.always([refuse(401)]);
    const once = { headers: { 'Idempotency-Key': newId() } };
    const failure = async () => {
      const answering = client.chat.completions.create({ model: agent.id, messages: [HELLO] }, once);
      return (await answering.catch((thrown: unknown) => thrown)) as APIError<number, Headers>;
    };
    const [first, second] = [await failure(), await failure()];
    expect([second.status, second.error]).toEqual([400, first.error]);
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(world.model.completions).toHaveLength(1);
  });

  it('continues an answer when the client has disconnected', async () => {
    let tell = () => {};
    world.model.next([...say('At '), until(new Promise<void>((resolve) => (tell = resolve))), ...say('four.')]);
    const asked = { model: agent.id, messages: [HELLO], stream: true as const };
    const once = { headers: { 'Idempotency-Key': newId() } };
    const stream = await client.chat.completions.create(asked, once);
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'At ') break;
    stream.controller.abort();
    tell();
    await world.quietHead();
    const again: Chunk[] = [];
    for await (const chunk of await client.chat.completions.create(asked, once)) again.push(chunk);
    expect([textOf(again), endOf(again)]).toEqual(['At four.', ['stop']]);
    expect(world.model.completions).toMatchObject([{ closed: false }]);
  });

  it('names the agent of the key as the only model', async () => {
    const { id, key } = await world.agent({ name: 'Tea' });
    const other = await world.agent({});
    const { models } = clientFor(key);
    const model = await models.retrieve(id);
    expect(model).toMatchObject({ id, object: 'model', owned_by: 'docsgpt', name: 'Tea' });
    expect((await models.list()).data).toEqual([model]);
    await expect(models.retrieve(other.id)).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    await expect(clientFor(newId()).models.retrieve(id)).rejects.toMatchObject({ status: 401 });
  });

  it('accepts no other key, and no session', async () => {
    for (const key of [newId(), 'nonsense']) {
      await expect(clientFor(key).models.list()).rejects.toMatchObject({ status: 401, type: 'authentication_error' });
      expect(await refusalOf({ messages: [HELLO] }, clientFor(key))).toMatchObject({ status: 401, type: 'authentication_error' });
    }
    const { status, body } = await replyOf(world.alice.get('/v1/models'));
    expect([status, body]).toMatchObject([401, { error: { type: 'authentication_error' } }]);
  });

  it.each([false, true])(
    'uses instructions if the agent allows it, and reports them as ignored if not (allowed: %s)',
    async (allowed) => {
      const { key } = await world.agent({ allow_system_prompt_override: allowed });
      world.model.next(say('Hello.'));
      const messages = [{ role: 'system', content: 'Talk like a pirate.' }, HELLO];
      const sent = { messages, reasoning_effort: 'low', user: 'ann' };
      const client = new Client(world.service.url, { authorization: `Bearer ${key}` });
      const { status, headers } = await replyOf(client.post('/v1/chat/completions', sent));
      const ignored = ['reasoning_effort', ...(allowed ? [] : ['messages[0]'])];
      expect([status, headers.get('x-ignored-parameters')]).toEqual([200, ignored.join(', ')]);
      const [system] = lastPrompt();
      expect(system).toMatchObject(
        allowed ? { role: 'system', content: 'Talk like a pirate.' } : { content: expect.not.stringContaining('pirate') },
      );
    },
  );

  it('passes sampling parameters to the model, and reports that its token limit was reached', async () => {
    world.model.always([...say('At f'), { do: 'finish', reason: 'length' }]);
    const sampling = { temperature: 0.2, top_p: 0.5, seed: 7, stop: ['x'], frequency_penalty: 1, presence_penalty: -1 };
    const { choices } = await complete({ messages: [HELLO], ...sampling, max_completion_tokens: 5 });
    expect(choices).toMatchObject([{ message: { content: 'At f' }, finish_reason: 'length' }]);
    expect(world.model.completions.at(-1)!.body).toMatchObject({ ...sampling, max_tokens: 5 });
    expect(endOf(await chunksOf({ messages: [HELLO], max_tokens: 5 }))).toEqual(['length']);
  });

  it.each([false, true])('answers with JSON that matches the given schema (streamed: %s)', async (stream) => {
    const schema = { type: 'object', properties: { hour: { type: 'number' } }, required: ['hour'], additionalProperties: false };
    const asked: Asked = {
      messages: [HELLO],
      response_format: { type: 'json_schema', json_schema: { name: 'tea', schema, strict: true } },
    };
    world.model.next(say('{"hour":', '16}'));
    const said = stream ? textOf(await chunksOf(asked)) : (await complete(asked)).choices[0]!.message.content;
    expect(said).toBe('{"hour":16}');
    expect(world.model.completions.at(-1)!.body).toMatchObject({ response_format: { json_schema: { schema } } });
    world.model.next(say('{"any":1}'));
    const any = await complete({ messages: [HELLO], response_format: { type: 'json_object' } });
    expect(any.choices[0]!.message.content).toBe('{"any":1}');
  });

  it('shows the model the pictures in messages, and recognises a repeated question with pictures', async () => {
    world.model.next(say('A dot.'));
    const url = `data:image/png;base64,${Buffer.from(pngFile('dot.png').bytes).toString('base64')}`;
    const picture: OpenAI.ChatCompletionContentPart = { type: 'image_url', image_url: { url } };
    const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, picture] }];
    const idempotent = { 'Idempotency-Key': newId() };
    const seeing = { model: 'sees', messages };
    const first = await complete(seeing, client, idempotent);
    expect(first.choices[0]!.message.content).toBe('A dot.');
    expect(JSON.stringify(lastPrompt())).toContain('data:image/png;base64,');
    expect(await complete(seeing, client, idempotent)).toEqual(first);
    expect(world.model.completions).toHaveLength(1);
  });

  it('accepts all headers of the client from a page of another origin', async () => {
    const sent: string[] = [];
    const url = `${world.service.url}/v1`;
    const watched: typeof fetch = (to, init) => {
      sent.push(...new Headers(init?.headers).keys());
      return fetch(to, init);
    };
    const inPage = new OpenAI({
      apiKey: agent.key,
      baseURL: url,
      organization: 'o',
      project: 'p',
      maxRetries: 0,
      fetch: watched,
    });
    await inPage.chat.completions.stream({ model: agent.id, messages: [HELLO] }).finalContent();
    const preflight = await fetch(`${url}/chat/completions`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
    });
    const allowed = preflight.headers.get('access-control-allow-headers')!.toLowerCase().split(', ');
    // Pages may always send `accept`.
    expect(sent.filter((header) => header !== 'accept' && !allowed.includes(header))).toEqual([]);
  });

  it('shows the model the attachments that the command line has uploaded', async () => {
    const form = new FormData();
    form.append('file', new Blob(['The word is plum.']), 'note.txt');
    form.append('api_key', agent.key);
    const uploaded = await fetch(`${world.service.url}/api/store_attachment`, { method: 'POST', body: form });
    const { attachment_id: id } = (await uploaded.json()) as { attachment_id: string };
    await complete({ model: 'docsgpt', messages: [HELLO], docsgpt: { attachments: [id] } } as Asked);
    expect(JSON.stringify(lastPrompt())).toContain('The word is plum.');
  });

  it.each<[string, object]>([
    ['messages', { messages: [] }],
    ['messages', { messages: [{ role: 'user', content: 'x'.repeat(131_073) }] }],
    ['messages', { messages: [{ role: 'developer', content: 'x'.repeat(65_537) }, HELLO] }],
    ['messages[0].role', { messages: [{ role: 'critic', content: 'Be brief.' }, HELLO] }],
    [
      'messages[0].content[0].image_url.url',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }] }] },
    ],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }],
    ['messages[1].tool_call_id', { messages: [HELLO, { role: 'tool', tool_call_id: 'call_1', content: 'green' }] }],
    ['model', { messages: [HELLO], model: 'nobody' }],
    ['top_logprobs', { messages: [HELLO], top_logprobs: 2 }],
    ['n', { messages: [HELLO], n: 2 }],
    ['response_format.type', { messages: [HELLO], response_format: { type: 'grammar' } }],
    [
      'response_format',
      { messages: [HELLO], response_format: { type: 'json_schema', json_schema: { schema: { type: 'tea' } } } },
    ],
    ['response_schema', { messages: [HELLO], response_schema: { type: 'tea' } }],
    ['temperature', { messages: [HELLO], temperature: 3 }],
    ['tool_choice', { messages: [HELLO], tool_choice: 'required' }],
    ['tools[0]', { messages: [HELLO], tools: [{ type: 'custom', custom: { name: 'x' } }] }],
  ])('names what it does not support: %s', async (param, asked) => {
    const refusal = await refusalOf(asked);
    expect(refusal).toMatchObject({ status: 400, type: 'invalid_request_error', param });
    expect(refusal.message).toContain(param);
    expect(world.model.completions).toEqual([]);
  });
}
