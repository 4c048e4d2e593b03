import { expect, it } from '@jest/globals';
import { LINE_BYTES_MAX, shortened } from './shortened.policy.js';

const sizeOf = (data: object) => Buffer.byteLength(JSON.stringify(data));
const sources = (count: number, text: string) => ({
  type: 'source',
  sources: Array.from({ length: count }, (_, index) => ({ title: `Page ${index}`, text })),
});

it('data that fits into a line is unchanged', () => {
  const data = sources(2, 'x'.repeat(20_000));
  expect(shortened(data)).toBe(data);
});

it.each([
  ['a long text', sources(1, 'x'.repeat(200_000))],
  ['many texts', sources(100, 'x'.repeat(5_000))],
  ['texts of several bytes per character', sources(20, '👍'.repeat(2_000))],
])('is shortened to fit into a line: %s', (_, data) => {
  const short = shortened(data) as typeof data;
  expect(sizeOf(data)).toBeGreaterThan(LINE_BYTES_MAX);
  expect(sizeOf(short)).toBeLessThanOrEqual(LINE_BYTES_MAX);
  expect(JSON.stringify(short).isWellFormed()).toBe(true);
  expect(short.sources.map(({ title }) => title)).toEqual(data.sources.map(({ title }) => title));
  for (const { text } of short.sources) expect(text).toMatch(/.{30,}…$/u);
});
