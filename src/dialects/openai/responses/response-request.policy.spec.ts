import { describe, expect, it } from '@jest/globals';
import {
  KEPT_BYTES_MAX,
  METADATA_KEY_CHARACTERS_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_CHARACTERS_MAX,
  responseRequestOf,
} from './response-request.policy.js';

const requested = (body: object) => responseRequestOf({ input: 'When is tea?', ...body }, 'agent');
const refusedAt = (param: string) => expect.objectContaining({ code: 'invalid-request', details: { param } });
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));

describe('metadata', () => {
  it('has a limited number of pairs', () => {
    expect(requested({ metadata: pairs(METADATA_PAIRS_MAX) }).echo.metadata).toEqual(pairs(METADATA_PAIRS_MAX));
    expect(() => requested({ metadata: pairs(METADATA_PAIRS_MAX + 1) })).toThrow(refusedAt('metadata'));
  });

  it.each(['k', '😀'])('has keys and values of limited length, also of the character %s', (character) => {
    const key = character.repeat(METADATA_KEY_CHARACTERS_MAX);
    const value = character.repeat(METADATA_VALUE_CHARACTERS_MAX);
    expect(requested({ metadata: { [key]: value } }).echo.metadata).toEqual({ [key]: value });
    expect(() => requested({ metadata: { [`${key}k`]: value } })).toThrow(refusedAt('metadata'));
    expect(() => requested({ metadata: { k: `${value}v` } })).toThrow(refusedAt('metadata.k'));
  });
});

it.each([{}, { tools: [] }])('options of tools are accepted if the request has none (%j)', (tools) => {
  expect(requested({ tool_choice: 'none', parallel_tool_calls: false, ...tools }).tools).toEqual([]);
});

it.each([{ tool_choice: 'none' }, { parallel_tool_calls: false }])(
  'options of tools are refused if the request has some (%j)',
  (option) => {
    const tools = [{ type: 'function', name: 'pick_colour' }];
    expect(() => requested({ ...option, tools })).toThrow(refusedAt(Object.keys(option)[0]!));
  },
);

it('the model docsgpt is the agent’s own', () => {
  expect(requested({ model: 'docsgpt' })).toMatchObject({ modelId: undefined, echo: { model: 'agent' } });
});

it('a message without content is ignored in the question and stored without parts', () => {
  const input = [
    { role: 'user', content: null },
    { role: 'user', content: 'When is tea?' },
  ];
  expect(requested({ input }).items).toEqual([
    { type: 'message', role: 'user', content: [] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'When is tea?' }] },
  ]);
});

describe('the stored part of a request', () => {
  const empty = requested({ input: 'x' });
  const room = KEPT_BYTES_MAX - Buffer.byteLength(JSON.stringify([empty.echo, empty.items])) + 1;
  /** Each `é` has two bytes. */
  const filling = 'é'.repeat(room / 2) + 'x'.repeat(room % 2);

  it('has a limited size', () => {
    expect(requested({ input: filling }).said).toMatchObject({ question: filling });
    expect(() => requested({ input: `${filling}x` })).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('has no limit if the response is not stored', () => {
    expect(requested({ input: `${filling}x`, store: false }).store).toBe(false);
  });
});
