import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import {
  call,
  type CompletionRequest,
  cut,
  end,
  hang,
  refuse,
  say,
  ScriptedModelServer,
  think,
  wait,
  write,
} from '../../../../test/support/scripted-model-server.js';
import { type ModelChunk, ModelFailed, type ModelRequest } from '../model/language-model.port.js';
import { OpenAiModels, type OpenAiModelsOptions } from './openai-models.js';

let server: ScriptedModelServer;
beforeAll(async () => (server = await ScriptedModelServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

const models = (more: Partial<OpenAiModelsOptions> = {}) =>
  new OpenAiModels({ baseUrl: server.url, apiKey: 'secret-key', retryDelayMs: 1, ...more });
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  modelId: 'scripted',
  messages: [{ role: 'user', content: 'Hi' }],
  question: 'Hi',
  documents: [],
  ...more,
});
const never = new AbortController().signal;

async function collect(stream: AsyncIterable<ModelChunk>) {
  const chunks: ModelChunk[] = [];
  try {
    for await (const chunk of stream) chunks.push(chunk);
    return { chunks, failed: undefined };
  } catch (error) {
    if (!(error instanceof ModelFailed)) throw error;
    return { chunks, failed: error };
  }
}
const ask = (more: Partial<OpenAiModelsOptions> = {}, asked = request()) => collect(models(more).stream(asked, never));
const text = (text: string): ModelChunk => ({ type: 'text', text });
const sent = () => server.completions.at(-1)!.body;

describe('an answer', () => {
  it('arrives as thoughts and text in order, followed by usage and finish reason', async () => {
    server.next([...think('Let me', ' see.'), ...say('It is', ' 4.'), { do: 'usage', promptTokens: 7, completionTokens: 2 }]);
    expect((await ask()).chunks).toEqual([
      { type: 'thought', text: 'Let me' },
      { type: 'thought', text: ' see.' },
      text('It is'),
      text(' 4.'),
      { type: 'usage', promptTokens: 7, completionTokens: 2 },
      { type: 'finish', reason: 'stop' },
    ]);
    expect(server.requests[0]!.headers.authorization).toBe('Bearer secret-key');
  });

  it('arrives chunk by chunk', async () => {
    server.next([...say('first'), hang]);
    const stop = new AbortController();
    for await (const chunk of models().stream(request(), stop.signal)) {
      expect(chunk).toEqual(text('first'));
      stop.abort();
    }
  });

  it('contains each tool call as one chunk', async () => {
    server.next([...say('Looking.'), call('c1', 'search', { query: 'retention of events' }), call('c2', 'now', {})]);
    expect((await ask()).chunks.filter(({ type }) => type !== 'usage')).toEqual([
      text('Looking.'),
      { type: 'tool-call', id: 'c1', name: 'search', arguments: '{"query":"retention of events"}' },
      { type: 'tool-call', id: 'c2', name: 'now', arguments: '{}' },
      { type: 'finish', reason: 'tool-calls' },
    ]);
  });

  it('reports that it was truncated at its maximum length', async () => {
    server.next([...say('It'), { do: 'finish', reason: 'length' }]);
    expect((await ask()).chunks.at(-1)).toEqual({ type: 'finish', reason: 'length' });
  });

  it('is read from endpoints that do not stream, write comments or use other line ends', async () => {
    const whole = { choices: [{ message: { content: 'Whole.' }, finish_reason: 'stop' }] };
    server.next([{ do: 'refuse', status: 200, body: whole }]);
    expect((await ask()).chunks).toEqual([text('Whole.'), { type: 'finish', reason: 'stop' }]);
    server.next([write(': busy\r\n\r\ndata:{"choices":[{"delta":{"reasoning":"Hm","content":"Ünï"}}]}\r\n\r\n')]);
    expect((await ask()).chunks.slice(0, 2)).toEqual([{ type: 'thought', text: 'Hm' }, text('Ünï')]);
  });

  it('leaves its connection open for the next request', async () => {
    const asked = models();
    const before = server.connections;
    for (let count = 0; count < 6; count++) await collect(asked.stream(request(), never));
    expect(server.connections - before).toBeLessThanOrEqual(2);
  });

  it('is complete when the endpoint says so, and the connection is closed if the endpoint does not end the response', async () => {
    server.always([...say('One'), { do: 'finish' }, write('data: [DONE]\n\n'), hang]);
    expect((await ask()).chunks).toContainEqual(text('One'));
    expect(server.completions.at(-1)!.closed).toBe(false);
    await eventually(() => server.completions.at(-1)!.closed);
  });
});

describe('a request', () => {
  it('contains messages, pictures, tools and the maximum length', async () => {
    const tool = { name: 'now', description: 'The time', parameters: { type: 'object', properties: {} } };
    await ask(
      {},
      request({
        maxTokens: 50,
        tools: [tool],
        messages: [
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'When?' },
              { type: 'image', dataUrl: 'data:image/png;base64,AA' },
            ],
          },
          { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'now', arguments: '{}' }] },
          { role: 'tool', toolCallId: 'c1', content: 'noon' },
        ],
      }),
    );
    expect(sent()).toMatchObject({
      model: 'scripted',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 50,
      tools: [{ type: 'function', function: tool }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'When?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'now', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'noon' },
      ],
    });
  });

  it.each([
    [true, { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }],
    [false, { type: 'object', properties: { a: { type: 'string' } } }],
  ])('asks for the response schema, strictly (%s) if the schema allows that', async (strict, responseSchema) => {
    await ask({}, request({ responseSchema }));
    expect(sent()['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: responseSchema, strict },
    });
  });

  it('wraps a list schema in an object, because endpoints accept no other root', async () => {
    await ask({}, request({ responseSchema: { type: 'array', items: { type: 'string' } } }));
    expect(sent()['response_format']).toMatchObject({
      json_schema: { strict: true, schema: { type: 'object', properties: { value: { type: 'array' } }, required: ['value'] } },
    });
  });

  it('permanently omits the parameters that the endpoint has refused', async () => {
    const picky = ({ stream_options, response_format, max_tokens }: CompletionRequest) => {
      if (stream_options) return [refuse(400, 'Unknown parameter: stream_options')];
      if (response_format) return [refuse(422, "response_format 'json_schema' is not supported")];
      if (max_tokens) return [refuse(400, 'Use max_completion_tokens instead of max_tokens.')];
      return say('{"a":1}');
    };
    const asked = models({ attemptsMax: 1 });
    server.always(picky);
    const demanding = request({ maxTokens: 5, responseSchema: { type: 'object' } });
    expect((await collect(asked.stream(demanding, never))).chunks[0]).toEqual(text('{"a":1}'));
    await collect(asked.stream(demanding, never));
    expect(server.completions).toHaveLength(5);
    expect(sent()['max_completion_tokens']).toBe(5);
    expect(JSON.stringify(sent().messages)).toContain('valid against this JSON Schema');
  });
});

it('describes a schema that the endpoint refuses in words, and still sends others', async () => {
  const asked = models({ attemptsMax: 1 });
  server.always(({ response_format: format }) =>
    JSON.stringify(format ?? '').includes('odd') ? [refuse(400, "Invalid schema for response_format 'answer': odd")] : say('{}'),
  );
  const odd = request({ responseSchema: { type: 'object', properties: { odd: { type: 'string' } } } });
  expect((await collect(asked.stream(odd, never))).chunks[0]).toEqual(text('{}'));
  expect(sent()['response_format']).toBeUndefined();
  await collect(asked.stream(request({ responseSchema: { type: 'object' } }), never));
  expect(sent()['response_format']).toBeDefined();
});

describe('a model without tools', () => {
  const tools = [{ name: 'now', description: 'The time', parameters: { type: 'object', properties: {} } }];

  it.each([
    [400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [400, '`tool calling` is not supported with this model'],
    [404, 'No endpoints found that support tool use.'],
  ])('answers without them: %i %s', async (status, message) => {
    const asked = models({ attemptsMax: 1 });
    server.always((request) => (request['tools'] ? [refuse(status, message)] : say('So.')));
    const answers = [
      await collect(asked.stream(request({ tools }), never)),
      await collect(asked.stream(request({ tools }), never)),
    ];
    expect(answers.map(({ chunks }) => chunks[0])).toEqual([text('So.'), text('So.')]);
    expect(server.completions).toHaveLength(3);
  });

  it.each([
    [400, "Invalid schema for function 'now': tools[0].function.parameters: pattern is not supported"],
    [404, 'The model `scripted` does not exist'],
  ])('is not assumed after another error: %i %s', async (status, message) => {
    server.always([refuse(status, message)]);
    expect((await ask({}, request({ tools }))).failed).toBeDefined();
    expect(server.completions).toHaveLength(1);
  });
});

describe('a failure before the first chunk', () => {
  it.each([
    ['an overloaded endpoint', [refuse(429)]],
    ['a failing endpoint', [refuse(500)]],
    ['a cut connection', [cut]],
    ['an error in the stream', [write('data: {"error":{"message":"boom","code":503}}\n\n')]],
    ['an invalid frame', [write('data: {"choices": [\n\n')]],
    ['a stream without a chunk', [write(': nothing\n\n'), end]],
  ])('is retried: %s', async (_, script) => {
    server.next(script, script, say('Finally.'));
    expect((await ask()).chunks[0]).toEqual(text('Finally.'));
    expect(server.completions).toHaveLength(3);
  });

  it('is retried up to the maximum number of attempts', async () => {
    server.always([refuse(503)]);
    expect((await ask({ attemptsMax: 4 })).failed).toMatchObject({ failure: 'overloaded', retriable: true });
    expect(server.completions).toHaveLength(4);
  });

  it('is retried after the delay that the endpoint asks for', async () => {
    server.next([refuse(429, 'slow down', { 'retry-after': '0.2' })]);
    const started = performance.now();
    await ask();
    expect(performance.now() - started).toBeGreaterThan(190);
  });

  it.each([
    ['in the body itself', { object: 'error', message: 'The prompt is too long: maximum context length 8192', code: 400 }],
    ['in a list', [{ error: { code: 400, message: 'The prompt is too long: maximum context length 8192' } }]],
    ['under another name', { detail: [{ msg: 'The prompt is too long: maximum context length 8192' }] }],
  ])('is recognised if the endpoint states its error %s', async (_, body) => {
    server.always([{ do: 'refuse', status: 400, body }]);
    expect((await ask()).failed).toMatchObject({ failure: 'context-too-long' });
  });

  it.each([
    [401, 'Incorrect API key provided: secret-key', 'not-authorised'],
    [404, 'The model `scripted` does not exist', 'unknown-model'],
    [400, "This model's maximum context length is 8192 tokens", 'context-too-long'],
    [400, 'The response was filtered due to our content management policy', 'refused'],
    [400, 'Something else', 'not-accepted'],
    [429, 'You exceeded your current quota: insufficient_quota', 'not-authorised'],
  ])('is final if a retry cannot help: %i %s', async (status, message, failure) => {
    server.always([refuse(status, message)]);
    const { failed } = await ask();
    expect(failed).toMatchObject({ failure, retriable: false });
    expect(failed!.message).not.toContain(message);
    expect(server.completions).toHaveLength(1);
  });

  it('hides the address of an unreachable endpoint from the user', async () => {
    const { failed } = await ask({ baseUrl: 'http://127.0.0.1:9/v1' });
    expect(failed).toMatchObject({ failure: 'unavailable', retriable: true });
    expect(failed!.message).not.toMatch(/127|ECONN|secret/);
  });
});

describe('a failure after the first chunk', () => {
  it.each([
    ['a cut connection', [wait(300), cut], 'unavailable'],
    ['an end without a finish reason', [end], 'bad-reply'],
    ['an error', [write('data: {"error":{"message":"boom","type":"server_error"}}\n\n')], 'unavailable'],
    ['an invalid frame', [write('data: nonsense\n\n')], 'bad-reply'],
    ['silence', [hang], 'timed-out'],
  ] as const)('is reported immediately and not retried: %s', async (_, ending, failure) => {
    server.always([...say('Once'), ...ending]);
    const { chunks, failed } = await ask(failure === 'timed-out' ? { idleMs: 150 } : {});
    expect([chunks, failed?.failure]).toEqual([[text('Once')], failure]);
    expect(server.completions).toHaveLength(1);
  });
});

describe('an answer with a finish reason', () => {
  it.each([
    ['is cut', [wait(100), cut]],
    ['stays open', [hang]],
  ] as const)('is complete if its connection then %s', async (_, ending) => {
    server.always([...say('All.'), { do: 'finish' }, ...ending]);
    const { chunks, failed } = await ask({ idleMs: 200 });
    expect([chunks, failed]).toEqual([[text('All.'), { type: 'finish', reason: 'stop' }], undefined]);
    expect(server.completions).toHaveLength(1);
  });
});

describe('a time limit', () => {
  it('ends a request that receives no chunk, whatever else the endpoint sends', async () => {
    server.always([write('data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n'), hang]);
    expect((await ask({ firstTokenMs: 100, attemptsMax: 1 })).failed).toMatchObject({ failure: 'timed-out', retriable: true });
  });

  it('ends an answer that never ends', async () => {
    server.always(Array.from({ length: 100 }, () => [...say('on '), wait(20)]).flat());
    expect((await ask({ totalMs: 200 })).failed?.failure).toBe('timed-out');
  });

  it('does not end the writing of a long tool call, which yields no chunk', async () => {
    const piece = (text: string) =>
      write(
        `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'save', arguments: text } }] } }] })}\n\n`,
      );
    server.always([piece('{"a":"'), ...Array.from({ length: 20 }, () => [wait(175), piece('x')]).flat(), piece('"}')]);
    // Shorter than the call, and longer than a busy machine stalls between two pieces.
    const { chunks, failed } = await ask({ firstTokenMs: 3_000, idleMs: 3_000, attemptsMax: 1 });
    expect([failed, chunks[0]]).toMatchObject([undefined, { type: 'tool-call', arguments: `{"a":"${'x'.repeat(20)}"}` }]);
  });

  it('does not count the time that the reader takes', async () => {
    server.next([...say('a', 'b', 'c')]);
    const chunks: ModelChunk[] = [];
    for await (const chunk of models({ idleMs: 1_000, firstTokenMs: 60_000 }).stream(request(), never)) {
      chunks.push(chunk);
      await new Promise((resolve) => setTimeout(resolve, 1_200));
    }
    expect(chunks.at(-1)).toEqual({ type: 'finish', reason: 'stop' });
  });
});

describe('a reader that aborts', () => {
  /** Aborts after the endpoint was asked and `pieces` chunks have arrived. */
  const aborted = async (pieces: number, script: Parameters<ScriptedModelServer['always']>[0]) => {
    server.always(script);
    const stop = new AbortController();
    let came = 0;
    const noted = async function* () {
      for await (const chunk of models().stream(request(), stop.signal)) {
        came++;
        yield chunk;
      }
    };
    const collecting = collect(noted());
    await eventually(() => server.completions.length === 1 && came === pieces);
    stop.abort();
    return collecting;
  };
  const isSeenClosed = () => eventually(() => server.completions.at(-1)?.closed);

  it.each([
    ['before the first chunk', 0, [hang]],
    ['after the first chunk', 1, [...say('One'), hang]],
  ])('ends without an error and closes the request to the endpoint: %s', async (_, pieces, script) => {
    expect((await aborted(pieces, script)).failed).toBeUndefined();
    await isSeenClosed();
  });

  it('does not wait for the next attempt', async () => {
    expect((await aborted(0, [refuse(503, 'later', { 'retry-after': '5' })])).failed).toBeUndefined();
    expect(server.completions).toHaveLength(1);
  });

  it('by leaving the loop closes the request as well', async () => {
    server.always([...say('One'), hang]);
    for await (const _ of models().stream(request(), never)) break;
    await isSeenClosed();
  });
});

describe('the models of an endpoint', () => {
  it('are those it lists, except models that do not chat', async () => {
    server.models = [{ id: 'text-embedding-3-small' }, { id: 'big', max_model_len: 32_000 }, { id: 'whisper-1' }, { id: 'emb' }];
    const listed = await models({ otherModelIds: ['emb'] }).list();
    expect(listed?.map(({ id, contextWindow }) => [id, contextWindow])).toEqual([['big', 32_000]]);
  });

  it('are undefined while it is down, and it is not asked again immediately', async () => {
    server.models = undefined;
    const asked = models();
    expect([await asked.list(), await asked.list()]).toEqual([undefined, undefined]);
    expect(server.requests).toHaveLength(1);
  });
});
