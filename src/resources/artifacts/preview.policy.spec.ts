import { expect, it } from '@jest/globals';
import { previewOf } from './preview.policy.js';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

it.each([
  ['text/plain', bytes('Tee ☕'), 'Tee ☕'],
  ['text/csv; charset=utf-8', bytes('a;b'), 'a;b'],
  ['application/json', bytes('{}'), '{}'],
  ['image/svg+xml', bytes('<svg/>'), '<svg/>'],
  ['text/plain', bytes(''), ''],
  ['image/png', bytes('text'), null],
  ['text/plain', new Uint8Array([0xff, 0xfe, 0x41]), null],
  ['text/plain', bytes('a\0b'), null],
])('the preview of %s is the beginning of its text, or null for other content', (type, content, preview) =>
  expect(previewOf(type, content)).toBe(preview),
);

it('the preview of a long text is cut between characters', () => {
  expect(previewOf('text/plain', bytes('☕'.repeat(100_000)))).toBe('☕'.repeat(2000));
  expect(previewOf('text/plain', bytes(`x${'🍰'.repeat(100_000)}`))).toBe(`x${'🍰'.repeat(1999)}`);
});
