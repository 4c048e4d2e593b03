import { expect, it, jest } from '@jest/globals';
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

it('copies each character twice at most, however long the text becomes', () => {
  const joins = jest.spyOn(Array.prototype, 'join');
  const growing = new GrowingText();
  for (let piece = 0; piece < 10_000; piece++) growing.add('four');
  const { text } = growing;
  const copied = joins.mock.results.reduce((sum, { value }) => sum + (value as string).length, 0);
  joins.mockRestore();
  expect(text).toBe('four'.repeat(10_000));
  expect(copied).toBeLessThanOrEqual(2 * text.length);
});
