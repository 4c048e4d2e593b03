import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.js';
import { isTerminal } from '../../src/dialogue/journal/message.events.js';
import type { MakeBacking } from '../support/backing.js';
import { conversationIdIn, framesIn, messageIdIn } from '../support/client.js';
import { FUZZ_RUNS } from '../support/fuzz-runs.js';
import { openWorld, replyOf, type World } from '../support/world.js';

/** The maximum time of a response to any request. */
const ANSWERED_MS_MAX = 60_000;
const FUZZ_MS_MAX = 600_000 + 1_000 * FUZZ_RUNS;
const REFUSALS = [400, 401, 404, 409, 413, 415, 422];

/** Texts that break code which handles texts. */
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'x\udfff\ud800',
    '\u2028',
    '\r\n\r\ndata: {"type":"end"}\n\n',
    '{{ 7 * 7 }}',
    "'; drop table x; --",
  ),
  fc.constantFrom('__proto__', 'constructor', 'null', 'NaN', '-0', '1e999', '%00', '../../etc/passwd', 'x'.repeat(3_000)),
);
const number = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 501, 1e21, 1e308, 2 ** 53, -(2 ** 63)),
  fc.integer(),
  fc.double({ noNaN: true }),
);
const anything = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 2, arbitrary: number },
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 4 }),
  fc.array(text, { maxLength: 5 }),
  fc.dictionary(text, fc.jsonValue(), { maxKeys: 5 }),
  fc.integer({ min: 1, max: 90 }).map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown),
);

/** Bodies and requests that no client would send on purpose. Each is answered or refused, and a refused one changes nothing. */
export function fuzzStory(makeBacking: MakeBacking): void {
  let world: World;
  let known: { key: string; agentId: string; conversationId: string; messageId: string };
  beforeAll(async () => {
    world = await openWorld({ WRONG_CREDENTIALS_MAX_PER_MINUTE: '0' }, makeBacking);
    const { id: agentId, key } = await world.agent();
    const stream = await world.alice.stream({ question: 'Why?', api_key: key });
    known = { key, agentId, conversationId: conversationIdIn(stream), messageId: messageIdIn(stream) };
  });
  afterAll(() => world.close());

  /** A field that is usually valid, so that code behind the first check is reached too. */
  const field = <T>(good: fc.Arbitrary<T>) => fc.option(fc.oneof({ weight: 20, arbitrary: good }, anything), { nil: undefined });
  const exchange = fc.record({ prompt: anything, response: anything }, { requiredKeys: [] });
  const question = () =>
    fc.record({
      question: field(text),
      api_key: field(fc.constant(known.key)),
      agent_id: field(fc.constant(known.agentId)),
      conversation_id: field(fc.constantFrom(known.conversationId, null, '')),
      history: field(
        fc.oneof(
          fc.array(exchange, { maxLength: 3 }),
          fc.array(exchange, { maxLength: 3 }).map((each) => JSON.stringify(each)),
        ),
      ),
      model_id: field(fc.constantFrom('scripted', '', null)),
      visibility: field(fc.constant('listed')),
      passthrough: field(fc.dictionary(text, anything, { maxKeys: 4 })),
      prompt_id: field(fc.constantFrom('default', 'creative', 'strict')),
      active_docs: field(fc.constantFrom('default', [], '')),
      retriever: field(fc.constant('classic')),
      chunks: field(number),
      isNoneDoc: field(fc.boolean()),
      attachments: field(fc.constantFrom([], null)),
      index: field(fc.constantFrom(0, 1, null)),
      tool_actions: field(fc.constantFrom([], null)),
      save_conversation: anything,
    });
  const raw = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.json().map((json) => json.slice(0, -1)),
    fc.constantFrom(
      '',
      'null',
      '[]',
      '1',
      '"x"',
      '{',
      '{"question":1e999}',
      '{"question":"x","question":null}',
      '\ufeff{"question":"x"}',
    ),
    fc.integer({ min: 90, max: 3_000 }).map((depth) => `{"passthrough":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`),
  );
  const headers = fc.record(
    {
      'idempotency-key': fc.string({ unit: fc.constantFrom('a', 'ÿ', ' ', '~', '\t'), maxLength: 300 }),
      authorization: fc.constantFrom('Bearer', 'Bearer x.y.z', 'Basic YTpi', ''),
      'content-type': fc.constantFrom(
        'application/json; charset=utf-16',
        'text/plain',
        'multipart/form-data',
        'application/json',
      ),
      'x-api-key': fc.constantFrom('nonsense', ''),
      'x-after-position': fc.constantFrom('-1', 'x', '0'),
    },
    { requiredKeys: [] },
  );
  const usually = <T>(rare: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, rare);

  it.each(['/stream', '/api/answer'] as const)(
    `%s answers or refuses any request`,
    async (route) => {
      const body = fc.oneof({ weight: 5, arbitrary: question() }, raw);
      const statuses = new Map<number, number>();
      await fc.assert(
        fc.asyncProperty(body, usually(headers), async (sent, more) => {
          const before = await world.quietHead();
          const reply = await replyOf(world.alice.post(route, sent, more, AbortSignal.timeout(ANSWERED_MS_MAX)));
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          if (reply.status === 200) return expectWholeAnswer(route, reply.text);
          expect(REFUSALS).toContain(reply.status);
          expect(reply.text.length).toBeGreaterThan(0);
          if (route === '/api/answer' && reply.status === 400 && (await world.quietHead()) !== before) {
            // The question was accepted and its answer failed, which this route reports in the same way.
            return;
          }
          expect(await world.quietHead()).toBe(before);
        }),
        { numRuns: FUZZ_RUNS },
      );
      // Both outcomes were frequent enough to be meaningful.
      for (const status of [200, 400]) expect(statuses.get(status)).toBeGreaterThan(FUZZ_RUNS / 20);
    },
    FUZZ_MS_MAX,
  );

  it(
    'the routes around answers answer or refuse any request',
    async () => {
      const { alice } = world;
      const query = fc
        .oneof(text, fc.constantFrom(known.conversationId, known.messageId), number.map(String))
        .map((each) => encodeURIComponent(wellFormed(each)));
      const { conversationId: id } = known;
      const body = fc.record(
        {
          id: field(fc.constant(id)),
          name: field(text),
          conversation_id: field(fc.constant(id)),
          question_index: field(number),
          feedback: field(text),
        },
        { requiredKeys: [] },
      );
      const call = fc.oneof(
        fc
          .tuple(fc.constantFrom('limit', 'before', 'before_id'), query)
          .map(([name, value]) => ({ get: `/api/get_conversations?${name}=${value}&before=2026-01-01` })),
        query.map((value) => ({ get: `/api/search_conversations?q=${value}&limit=${value}` })),
        query.map((value) => ({ get: `/api/get_single_conversation?id=${value}` })),
        query.map((value) => ({ get: `/api/messages/${value || 'x'}/events` })),
        query.map((value) => ({ get: `/api/messages/${known.messageId}/events?last_event_id=${value}` })),
        query.map((value) => ({ get: `/api/messages/${value || 'x'}/digest` })),
        query.map((value) => ({ get: `/api/messages/${value || 'x'}/tail?api_key=${value}` })),
        query.map((value) => ({ post: `/api/messages/${value || 'x'}/cancel`, body: {} })),
        fc.tuple(query, body).map(([value, sent]) => ({ post: `/api/conversations/${value || 'x'}/read`, body: sent })),
        fc
          .tuple(fc.constantFrom('/api/feedback', '/api/update_conversation_name'), body)
          .map(([post, sent]) => ({ post, body: sent })),
        fc
          .tuple(fc.constantFrom('/api/feedback', '/api/update_conversation_name'), raw)
          .map(([post, sent]) => ({ post, body: sent })),
      );
      await fc.assert(
        fc.asyncProperty(call, async (each) => {
          const signal = AbortSignal.timeout(ANSWERED_MS_MAX);
          const reply = await replyOf(
            'get' in each ? alice.get(each.get, {}, signal) : alice.post(each.post, each.body, {}, signal),
          );
          expect([200, 414, ...REFUSALS]).toContain(reply.status);
        }),
        { numRuns: 2 * FUZZ_RUNS },
      );
    },
    FUZZ_MS_MAX,
  );
}

const wellFormed = (value: string): string => value.toWellFormed();

function expectWholeAnswer(route: string, received: string): void {
  if (route === '/api/answer') {
    expect(JSON.parse(received)).toMatchObject({ answer: expect.any(String) });
    return;
  }
  const frames = framesIn(received);
  expect(frames.map(({ id }) => id)).toEqual([...frames.keys()]);
  expect(frames.filter(({ raw }) => isTerminal(raw))).toEqual(frames.slice(-1));
}
