import { expect, it } from '@jest/globals';
import { deterministicId, isId } from './ids.js';

it('derives the same id from the same parts in every version, so that repeated appends are recognised', () => {
  expect(deterministicId('conversation-1', 0, 'TurnAsked')).toBe('1d491b91-a8f6-8bf2-b5f2-db58c2aff01a');
  expect(deterministicId('message', 7, 'w1')).toBe('152589cd-0296-8923-898a-2ba1356aaad8');
  expect(deterministicId('ü', 1)).toBe('55be0e18-972b-8e88-bdc1-f1afa1b079e3');
});

it('gives different ids for parts that are joined differently', () => {
  const ids = [['a', 'b'], ['ab'], ['a,b'], ['a', 'b', ''], ['b', 'a']].map((parts) => deterministicId(...parts));
  expect(new Set(ids).size).toBe(ids.length);
});

it('returns UUIDs of version 8', () => {
  for (let index = 0; index < 1_000; index++) {
    const id = deterministicId(index);
    expect(isId(id)).toBe(true);
    expect(id).toMatch(/^.{14}8.{4}[89ab]/);
  }
});
