import { crc32 } from 'node:zlib';

export type PictureSize = Readonly<{ width: number; height: number }>;
type Format = (bytes: Buffer) => PictureSize | undefined;

const PNG_SIGNATURE_BYTES = 8;
/** The names of chunks that are needed to show a PNG begin with a capital letter. */
const CRITICAL_CHUNK = /^[A-Z]/;

/** PNG: a header, chunks with checksums, some of them pixels, and an end chunk. */
const png: Format = (bytes) => {
  let size: PictureSize | undefined;
  let hasPixels = false;
  for (let at = PNG_SIGNATURE_BYTES; at < bytes.length;) {
    const [length, type] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)];
    const end = at + 8 + length;
    if (CRITICAL_CHUNK.test(type) && crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return undefined;
    if (type === 'IEND') return hasPixels ? size : undefined;
    if (type === 'IDAT') hasPixels = true;
    if (at === PNG_SIGNATURE_BYTES && type === 'IHDR')
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    at = end + 4;
  }
  return undefined;
};

const gif: Format = (bytes) => {
  const end = bytes.findLastIndex((byte) => byte !== 0);
  return bytes[end] === 0x3b ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) } : undefined;
};

const [START_OF_SCAN, END_OF_IMAGE] = [0xda, Buffer.from([0xff, 0xd9])];
/** Start-of-frame markers. C4, C8 and CC in this range are other segments. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** JPEG: segments with lengths, then the scan, which ends with a marker. A preview inside a segment is skipped. */
const jpeg: Format = (bytes) => {
  let size: PictureSize | undefined;
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes[at + 1]!;
    if (bytes[at] !== 0xff) return undefined;
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === START_OF_SCAN) return bytes.lastIndexOf(END_OF_IMAGE) > at ? size : undefined;
    if (isFrame(marker)) size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
};

/** WebP: a RIFF file with its length, in one of three formats. */
const webp: Format = (bytes) => {
  if (bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
};

const FORMATS: Readonly<Record<string, Format>> = {
  'image/png': png,
  'image/jpeg': jpeg,
  'image/gif': gif,
  'image/webp': webp,
};

/** The size in a picture's header. Undefined if the picture is damaged or truncated. No pixel is decoded. */
export function pictureSizeOf(mimeType: string, data: Uint8Array): PictureSize | undefined {
  try {
    const size = FORMATS[mimeType]?.(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch {
    // The buffer ended before a field.
    return undefined;
  }
}
