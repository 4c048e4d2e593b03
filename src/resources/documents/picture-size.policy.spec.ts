import { describe, expect, it } from '@jest/globals';
import { crc32 } from 'node:zlib';
import { pictureSizeOf } from './picture-size.policy.js';

const SIZE = { width: 300, height: 20 };
const u16be = (...numbers: number[]) => Buffer.from(numbers.flatMap((number) => [number >> 8, number & 0xff]));
const u16le = (...numbers: number[]) => u16be(...numbers.toReversed()).reverse();
const u32be = (number: number) => u16be(number >>> 16, number & 0xffff);
const latin1 = (text: string) => Buffer.from(text, 'latin1');

const chunk = (type: string, data: Buffer, wrong = 0) => {
  const named = Buffer.concat([latin1(type), data]);
  return Buffer.concat([u32be(data.length), named, u32be((crc32(named) ^ wrong) >>> 0)]);
};
const header = (width = SIZE.width, height = SIZE.height) => chunk('IHDR', Buffer.concat([u32be(width), u32be(height)]));
const [pixels, end] = [chunk('IDAT', latin1('pixels')), chunk('IEND', latin1(''))];
const png = (...chunks: Buffer[]) => Buffer.concat([latin1('\x89PNG\r\n\x1a\n'), ...chunks]);

describe('a PNG', () => {
  it.each([
    ['a header, pixels and an end', [header(), pixels, end]],
    ['a comment with a wrong checksum', [header(), chunk('tEXt', latin1('hi'), 1), pixels, end]],
    ['bytes after its end', [header(), pixels, end, latin1('more')]],
    ['a second header, which does not count', [header(), header(7, 7), pixels, end]],
  ])('with %s has a size', (_, chunks) => expect(pictureSizeOf('image/png', png(...chunks))).toEqual(SIZE));

  it.each([
    ['no end', [header(), pixels]],
    ['no pixels', [header(), end]],
    ['no header', [pixels, end]],
    ['its header after the pixels', [pixels, header(), end]],
    ['a wrong checksum', [header(), chunk('IDAT', latin1('pixels'), 1), end]],
    ['a truncated chunk', [header(), pixels.subarray(0, -3)]],
    ['no width', [header(0), pixels, end]],
    ['no height', [header(SIZE.width, 0), pixels, end]],
  ])('with %s is damaged', (_, chunks) => expect(pictureSizeOf('image/png', png(...chunks))).toBeUndefined());
});

describe('a GIF', () => {
  const gif = (...tail: number[]) => Buffer.concat([latin1('GIF89a'), u16le(SIZE.width, SIZE.height), Buffer.from([1, ...tail])]);
  it.each([[[0x3b]], [[0x3b, 0, 0]]])('that ends with %j has a size', (tail) =>
    expect(pictureSizeOf('image/gif', gif(...tail))).toEqual(SIZE),
  );
  it.each([[[]], [[0x3b, 1]]])('that ends with %j is truncated', (tail) =>
    expect(pictureSizeOf('image/gif', gif(...tail))).toBeUndefined(),
  );
});

describe('a JPEG', () => {
  const segment = (marker: number, data: Buffer) => Buffer.concat([Buffer.from([0xff, marker]), u16be(data.length + 2), data]);
  const frame = (marker: number) => segment(marker, Buffer.concat([Buffer.from([8]), u16be(SIZE.height, SIZE.width)]));
  const scan = Buffer.concat([segment(0xda, latin1('scan')), latin1('pixels')]);
  const eoi = Buffer.from([0xff, 0xd9]);
  const jpeg = (...parts: Buffer[]) => Buffer.concat([Buffer.from([0xff, 0xd8]), ...parts]);
  const fill = Buffer.from([0xff]);
  const preview = segment(0xe1, jpeg(frame(0xc0), scan, eoi));

  it.each([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xcf])('with a frame of the kind %i has a size', (marker) =>
    expect(pictureSizeOf('image/jpeg', jpeg(frame(marker), scan, eoi))).toEqual(SIZE),
  );
  it('with fill bytes or a preview before its frame has a size', () =>
    expect(pictureSizeOf('image/jpeg', jpeg(preview, fill, fill, frame(0xc0), scan, eoi))).toEqual(SIZE));

  it.each([
    ['no frame', [scan, eoi]],
    ['a segment C4 instead of a frame', [frame(0xc4), scan, eoi]],
    ['a segment C8 instead of a frame', [frame(0xc8), scan, eoi]],
    ['a segment CC instead of a frame', [frame(0xcc), scan, eoi]],
    ['a segment BF instead of a frame', [frame(0xbf), scan, eoi]],
    ['a segment D0 instead of a frame', [frame(0xd0), scan, eoi]],
    ['only a preview', [preview]],
    ['no scan', [frame(0xc0), eoi]],
    ['no end', [frame(0xc0), scan]],
    ['an end only in its preview', [preview, frame(0xc0), scan]],
    ['bytes between its segments', [frame(0xc0), latin1('x'), scan, eoi]],
  ])('with %s is damaged', (_, parts) => expect(pictureSizeOf('image/jpeg', jpeg(...parts))).toBeUndefined());
});

describe('a WebP', () => {
  const webp = (data: Buffer) => {
    const content = Buffer.concat([latin1('WEBP'), data]);
    return Buffer.concat([latin1('RIFF'), u32be(content.length).reverse(), content]);
  };
  const u24le = (number: number) => u32be(number).reverse().subarray(0, 3);
  const extended = Buffer.concat([latin1('VP8X'), Buffer.alloc(8), u24le(SIZE.width - 1), u24le(SIZE.height - 1)]);
  const bits = (SIZE.width - 1) | ((SIZE.height - 1) << 14);
  const lossless = Buffer.concat([latin1('VP8L'), Buffer.alloc(5), u32be(bits).reverse()]);
  // The two upper bits of each number are a scale, which does not count.
  const lossy = Buffer.concat([latin1('VP8 '), Buffer.alloc(10), u16le(SIZE.width | 0x4000, SIZE.height | 0x8000)]);

  it.each([
    ['extended', extended],
    ['lossless', lossless],
    ['lossy', lossy],
  ])('in the %s format has a size', (_, data) => expect(pictureSizeOf('image/webp', webp(data))).toEqual(SIZE));

  it('in another format has none', () =>
    expect(pictureSizeOf('image/webp', webp(Buffer.concat([latin1('VP9 '), Buffer.alloc(20, 1)])))).toBeUndefined());
  it('that is shorter than it says is truncated', () =>
    expect(pictureSizeOf('image/webp', webp(Buffer.concat([extended, Buffer.alloc(1)])).subarray(0, -1))).toBeUndefined());
});

it('a picture of another type has no size', () => expect(pictureSizeOf('image/bmp', png(header(), pixels, end))).toBeUndefined());
