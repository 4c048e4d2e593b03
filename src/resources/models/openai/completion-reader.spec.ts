import { describe, expect, it, jest } from '@jest/globals';
import { cpuMsOf } from '../../../../test/support/cpu-time.js';
import type { ModelChunk } from '../model/language-model.port.js';
import {
  COMPLETION_ARGUMENTS_CHARACTERS_MAX,
  COMPLETION_CALLS_MAX,
  CompletionReader,
  FRAME_ENTRIES_MAX,
} from './completion-reader.js';

type Piece = Readonly<{ id?: string; name?: string; arguments?: string | null }>;

function callOf(pieces: readonly Piece[]) {
  const reader = new CompletionReader();
  for (const { id, ...call } of pieces) {
    reader.read(JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, id, function: call }] } }] }));
  }
  reader.read('[DONE]');
  return reader.end().find(({ type }) => type === 'tool-call');
}

const text = (...pieces: string[]): readonly Piece[] => pieces.map((piece) => ({ arguments: piece }));
const named = { id: 'c1', name: 'search', arguments: '' };

it.each([
  ['in pieces', text('{"q":', '"x"}'), '{"q":"x"}'],
  ['with a nested object', text('{"a":', '{"b":1}', '}'), '{"a":{"b":1}}'],
  ['with a nested object that begins like the outer one', text('{"a":', '{"a":{}}', '}'), '{"a":{"a":{}}}'],
  ['in pieces and then again whole', text('{"q":', '"x"}', '{"q":"x"}'), '{"q":"x"}'],
  ['whole several times', text('{"q":"x"}', '{"q":"x"}', '{"q":"x"}'), '{"q":"x"}'],
  ['whole and then again in pieces', text('{"q":"x"}', '{"q"', ':"y"}'), '{"q":"y"}'],
  ['whole and then again truncated', text('{"q":"x"}', '{"q"'), '{"q":"x"}'],
  ['after an empty object', text('{}', '{"q":"x"}'), '{"q":"x"}'],
  ['with a brace in a string at the beginning of a piece', text('{"q":"a }', '{ b', '"}'), '{"q":"a }{ b"}'],
  ['truncated', text('{"q":', '{"b":1}'), '{"q":{"b":1}'],
  ['with a null piece', [{ arguments: null }, { arguments: '{}' }], '{}'],
])('reads the arguments of a tool call that arrive %s', (_, pieces, expected) => {
  expect(callOf([named, ...pieces])).toEqual({ type: 'tool-call', id: 'c1', name: 'search', arguments: expected });
});

it('reads a name that every delta repeats, and a name that arrives in parts', () => {
  expect(callOf([named, { name: 'search', arguments: '{}' }])).toMatchObject({ name: 'search' });
  expect(callOf([named, { name: '_web', arguments: '{}' }])).toMatchObject({ name: 'search_web' });
});

it.each([
  ['counts', { prompt_tokens: 12, completion_tokens: 3 }, [12, 3]],
  ['fractions', { prompt_tokens: 12.4, completion_tokens: 2.5 }, [12, 3]],
  ['nothing', { prompt_tokens: null }, [0, 0]],
  ['invalid counts', { prompt_tokens: -5, completion_tokens: '3' }, [0, 0]],
  ['more than a model can use', { prompt_tokens: 1e300, completion_tokens: 2 ** 53 }, [1_000_000_000, 1_000_000_000]],
])('reads the usage if the endpoint states %s', (_, usage, [promptTokens, completionTokens]) => {
  const reader = new CompletionReader();
  reader.read(JSON.stringify({ choices: [{ finish_reason: 'stop' }], usage }));
  expect(reader.end()).toContainEqual({ type: 'usage', promptTokens, completionTokens });
});

const HALVES = ['\ud83d', '\ude00'] as const;

/** The chunks of a completion with these deltas. */
function chunksOf(...deltas: readonly object[]): readonly ModelChunk[] {
  const reader = new CompletionReader();
  const chunks = deltas.flatMap((delta) => reader.read(JSON.stringify({ choices: [{ delta }] })));
  reader.read('[DONE]');
  return [...chunks, ...reader.end()];
}
const textIn = (chunks: readonly ModelChunk[], kind: 'text' | 'thought' = 'text') =>
  chunks.flatMap((chunk) => (chunk.type === kind ? chunk.text : [])).join('');
const callsIn = (chunks: readonly ModelChunk[]) => chunks.filter(({ type }) => type === 'tool-call');
const withCalls = (...parts: readonly object[]) => ({ tool_calls: parts });

describe('the tool calls of a completion', () => {
  const [rain, time] = [
    { type: 'tool-call', id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' },
    { type: 'tool-call', id: 'c2', name: 'weather', arguments: '{"city":"Oslo"}' },
  ];
  const [first, second] = [
    { id: 'c1', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
    { id: 'c2', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
  ];

  it.each([
    ['without an index', [withCalls(first), withCalls(second)]],
    ['with the index of the first', [withCalls({ ...first, index: 0 }), withCalls({ ...second, index: 0 })]],
    ['in one delta', [withCalls(first, second)]],
  ])('are separate if the second arrives %s', (_, deltas) => {
    expect(callsIn(chunksOf(...deltas))).toEqual([rain, time]);
  });

  it('are separate without ids if the second has another name', () => {
    const named = (name: string) => withCalls({ function: { name, arguments: '{}' } });
    expect(callsIn(chunksOf(named('now'), named('here')))).toMatchObject([{ name: 'now' }, { name: 'here' }]);
  });

  it('stay one call if every delta has another id', () => {
    const deltas = [
      withCalls({ index: 0, id: 'c1', function: { name: 'weather' } }),
      withCalls({ index: 0, id: 'x', function: { arguments: '{"city":' } }),
      withCalls({ index: 0, id: 'y', function: { arguments: '"Rome"}' } }),
    ];
    expect(callsIn(chunksOf(...deltas))).toEqual([rain]);
  });

  it('may have arguments that are an object, and an id that is not a text', () => {
    const delta = withCalls({ index: 0, id: 7, function: { name: 'weather', arguments: { city: 'Rome' } } });
    expect(callsIn(chunksOf(delta))).toEqual([{ ...rain, id: '' }]);
  });

  it('take little time whatever their index is', () => {
    const read = () => expect(callsIn(chunksOf(withCalls({ ...first, index: 4_000_000_000 })))).toEqual([rain]);
    expect(cpuMsOf(read)).toBeLessThan(1_000);
  });

  it('include a function call of the former protocol', () => {
    const pieces = [{ name: 'weather', arguments: '{"city":' }, { arguments: '"Rome"}' }];
    expect(callsIn(chunksOf(...pieces.map((piece) => ({ function_call: piece }))))).toEqual([{ ...rain, id: '' }]);
  });
});

describe('many tool calls, or long ones,', () => {
  const NAMED = { id: 'c1', function: { name: 'weather', arguments: '' } };
  const pieces = (...texts: readonly string[]) => texts.map((piece) => withCalls({ index: 0, function: { arguments: piece } }));
  const argumentsOf = (length: number) => `{"a":"${'x'.repeat(length - '{"a":""}'.length)}"}`;

  it('are read up to the limit of their arguments, beyond which the reply cannot be read', () => {
    const longest = argumentsOf(COMPLETION_ARGUMENTS_CHARACTERS_MAX);
    const half = longest.length / 2;
    const parts = pieces(longest.slice(0, half), longest.slice(half));
    expect(callsIn(chunksOf(withCalls(NAMED), ...parts))).toMatchObject([{ arguments: longest }]);
    expect(() => chunksOf(withCalls(NAMED), ...parts, ...pieces(' '))).toThrow(/could not be read/);
  });

  it('are not complete if their reply cannot be read, also if it has a finish reason', () => {
    const reader = new CompletionReader();
    const part = { function: { name: 'weather', arguments: argumentsOf(COMPLETION_ARGUMENTS_CHARACTERS_MAX + 1) } };
    const choice = { message: withCalls(part), finish_reason: 'stop' };
    expect(() => reader.read(JSON.stringify({ choices: [choice] }))).toThrow(/could not be read/);
    expect(reader.isFinished).toBe(false);
  });

  it('are parsed once, however many deltas may begin another call', () => {
    const parse = jest.spyOn(JSON, 'parse');
    const deltas = Array.from({ length: 200 }, () => withCalls({ index: 0, function: { name: 'b', arguments: '}' } }));
    chunksOf(withCalls({ index: 0, function: { name: 'a', arguments: '{"' } }), ...deltas);
    const parsed = parse.mock.calls.map(([text]) => text);
    parse.mockRestore();
    expect(parsed.filter((text) => !text.includes('choices'))).toEqual([]);
  });

  it('are dropped beyond COMPLETION_CALLS_MAX, with all their deltas', () => {
    const calls = Array.from({ length: COMPLETION_CALLS_MAX + 1 }, (_, at) => {
      const whole = { index: 0, id: `c${at}`, function: { name: 'weather', arguments: '{"city":' } };
      return [withCalls(whole), ...pieces('"Rome"}')];
    });
    const read = callsIn(chunksOf(...calls.flat()));
    expect(read).toHaveLength(COMPLETION_CALLS_MAX);
    expect(read.at(-1)).toMatchObject({ id: `c${COMPLETION_CALLS_MAX - 1}`, arguments: '{"city":"Rome"}' });
  });
});

describe('the text of a completion', () => {
  it('includes a refusal beside empty content', () =>
    expect(textIn(chunksOf({ content: '', refusal: 'I must not.' }))).toBe('I must not.'));

  it('may consist of parts, of which some are thoughts', () => {
    const chunks = chunksOf({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'It ' },
        { type: 'text', text: 'is.' },
      ],
    });
    expect([textIn(chunks, 'thought'), textIn(chunks)]).toEqual(['Hm.', 'It is.']);
  });

  it('never has half of a surrogate pair in a chunk', () => {
    const chunks = chunksOf({ content: `a${HALVES[0]}` }, { content: `${HALVES[1]}b` }, { content: HALVES[0] }, { content: 'c' });
    expect(textIn(chunks)).toBe('a😀b\ufffdc');
    expect(chunks.every((chunk) => chunk.type !== 'text' || chunk.text.isWellFormed())).toBe(true);
  });
});

describe('thoughts between think tags', () => {
  const split = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, 'gs'))!.map((content) => ({ content }));

  it.each([1, 3, 1_000])('are not text of the answer, in deltas of %i characters', (size) => {
    const chunks = chunksOf(...split('\n<think>\nIs 1 < 2? </thin\n</think>\n\nYes: <think> is a tag.', size));
    expect([textIn(chunks, 'thought'), textIn(chunks)]).toEqual(['\nIs 1 < 2? </thin\n', 'Yes: <think> is a tag.']);
  });

  it.each([
    ['<thi', '<thi', ''],
    ['<think', '<think', ''],
    ['<thinner> text', '<thinner> text', ''],
    ['<think>Hm', '', 'Hm'],
    ['<think>Hm</th', '', 'Hm</th'],
    ['  code', '  code', ''],
  ])('are distinguished from a text that only begins like them or ends early: %s', (written, text, thought) => {
    const chunks = chunksOf(...split(written, 2));
    expect([textIn(chunks), textIn(chunks, 'thought')]).toEqual([text, thought]);
  });
});

it('fails with an error that is the frame itself', () => {
  const frame = { object: 'error', message: "This model's maximum context length is 8192 tokens", code: 400 };
  expect(() => new CompletionReader().read(JSON.stringify(frame))).toThrow(/too long/);
});

describe('a large frame', () => {
  const chunksIn = (frame: object) => new CompletionReader().read(JSON.stringify(frame));
  const answering = (content: string, more: object = {}) => ({ choices: [{ delta: { content }, ...more }] });
  const entries = (count: number) => Array.from({ length: count }, () => 1.5);

  it('is read if it has a long text with many escapes, or the probabilities of thousands of tokens', () => {
    const long = 'a "quoted" line\n'.repeat(50_000);
    expect(textIn(chunksIn(answering(long)))).toBe(long);
    const token = { token: 'a', logprob: -0.123456789012, bytes: [97], top_logprobs: [{ token: 'a', logprob: -0.123456789012 }] };
    const logprobs = { content: Array.from({ length: 10_000 }, () => token) };
    expect(textIn(chunksIn(answering('Yes', { logprobs })))).toBe('Yes');
  });

  it('is not parsed if it has more than FRAME_ENTRIES_MAX entries', () => {
    const [many, most] = [FRAME_ENTRIES_MAX, FRAME_ENTRIES_MAX - 10].map((count) => answering('Yes', { more: entries(count) }));
    expect(textIn(chunksIn(most!))).toBe('Yes');
    const parse = jest.spyOn(JSON, 'parse');
    expect(() => chunksIn(many!)).toThrow(/could not be read/);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});
