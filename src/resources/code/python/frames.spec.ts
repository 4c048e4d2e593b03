import { expect, it, jest } from '@jest/globals';
import { FrameReader, FrameRefused, frameOf } from './frames.js';

const BYTES = Buffer.concat([
  ...frameOf({ kind: 'stdout' }, Buffer.from('Tea')),
  ...frameOf({ kind: 'end' }),
  ...frameOf({ kind: 'file' }, Buffer.alloc(10_000, 'x')),
]);

it.each([1, 7, 8, 64, 10_000, BYTES.length])('frames are the same in pieces of %d bytes', (size) => {
  const reader = new FrameReader(10_000);
  const frames = [];
  for (let from = 0; from < BYTES.length; from += size) frames.push(...reader.push(BYTES.subarray(from, from + size)));
  expect(frames.map(({ head, body }) => [head['kind'], body.toString()])).toEqual([
    ['stdout', 'Tea'],
    ['end', ''],
    ['file', 'x'.repeat(10_000)],
  ]);
});

it('the last piece of a large frame is copied alone, because copying the whole would hold up the process', () => {
  const pieces = 4;
  const piece = Buffer.alloc(64 * 1024);
  const [sizes, head] = frameOf({}, Buffer.alloc(pieces * piece.length));
  const reader = new FrameReader(pieces * piece.length);
  const push = (bytes: Uint8Array) => [...reader.push(Buffer.from(bytes))];
  for (const bytes of [sizes!, head!, ...Array<Buffer>(pieces - 1).fill(piece)]) expect(push(bytes)).toEqual([]);
  const copy = jest.spyOn(Buffer.prototype, 'copy');
  const concat = jest.spyOn(Buffer, 'concat');
  const [frame] = [...reader.push(piece)];
  expect(copy.mock.results.reduce((bytes, { value }) => bytes + (value as number), 0)).toBe(piece.length);
  expect(concat).not.toHaveBeenCalled();
  for (const spy of [copy, concat]) spy.mockRestore();
  expect(frame!.body).toHaveLength(pieces * piece.length);
});

it('a frame that is too large or has no head is refused', () => {
  const push = (...pieces: readonly Uint8Array[]) => [...new FrameReader(3).push(Buffer.concat(pieces))];
  expect(() => push(...frameOf({}, Buffer.from('four')))).toThrow(FrameRefused);
  expect(() => push(Buffer.alloc(8))).toThrow(FrameRefused);
  expect(push(...frameOf({}, Buffer.from('Tea')))).toHaveLength(1);
});
