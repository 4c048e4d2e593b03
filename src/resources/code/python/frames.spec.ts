import { expect, it } from '@jest/globals';
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

it('the last piece of a large frame takes no time, because the others are copied when they arrive', () => {
  const size = 64 * 1024 * 1024;
  const reader = new FrameReader(size);
  const piece = Buffer.alloc(64 * 1024);
  for (const bytes of frameOf({}, piece.subarray(0, 0)).slice(0, 2)) {
    const sizes = Buffer.from(bytes);
    if (sizes.length === 8) sizes.writeUInt32BE(size, 4);
    expect([...reader.push(sizes)]).toEqual([]);
  }
  for (let left = size - piece.length; left > 0; left -= piece.length)
    for (const _ of reader.push(piece)) throw new Error('Early.');
  const begun = performance.now();
  const [frame] = [...reader.push(piece)];
  expect(performance.now() - begun).toBeLessThan(20);
  expect(frame!.body).toHaveLength(size);
});

it('a frame that is too large or has no head is refused', () => {
  const push = (...pieces: readonly Uint8Array[]) => [...new FrameReader(3).push(Buffer.concat(pieces))];
  expect(() => push(...frameOf({}, Buffer.from('four')))).toThrow(FrameRefused);
  expect(() => push(Buffer.alloc(8))).toThrow(FrameRefused);
  expect(push(...frameOf({}, Buffer.from('Tea')))).toHaveLength(1);
});
