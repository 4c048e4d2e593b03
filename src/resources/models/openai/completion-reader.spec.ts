import { expect, it } from '@jest/globals';
import { CompletionReader } from './completion-reader.js';

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
