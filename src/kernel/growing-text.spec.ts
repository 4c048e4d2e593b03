import { expect, it } from '@jest/globals';
import { GrowingText } from './growing-text.js';

it.each([0, 1, 63, 64, 65, 1_000])('a text of %d pieces is their concatenation after its start', (count) => {
  const pieces = Array.from({ length: count }, (_, index) => `${index} é `);
  const growing = new GrowingText('start ');
  for (const piece of pieces) growing.add(piece);
  expect(growing.text).toBe(`start ${pieces.join('')}`);
});

it('a text that was read grows further', () => {
  const growing = new GrowingText();
  expect(growing.text).toBe('');
  growing.add('a');
  expect(growing.text).toBe('a');
  growing.add('b');
  expect([growing.text, growing.text]).toEqual(['ab', 'ab']);
});
