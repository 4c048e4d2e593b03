import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutgoingFailed } from './outgoing-http.port.js';

export type ReadBody = Readonly<{ body: Uint8Array; truncated: boolean }>;

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Reads and decompresses a body up to `bytesMax` bytes. It never decompresses more, and it reads no more than `bytesMax`
 * compressed bytes, because some compressed data decompresses to nothing. @throws OutgoingFailed
 */
export async function readBody(stream: Readable, encoding: string | undefined, bytesMax: number): Promise<ReadBody> {
  const packed = { bytes: 0, truncated: false };
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Destroying an unfinished stream emits an error, which is ignored.
  stream.on('error', () => undefined);
  try {
    const unpacked = pipeline(stream, upTo(bytesMax, packed), decoderFor(encoding), () => undefined);
    for await (const piece of unpacked as AsyncIterable<Uint8Array>) {
      pieces.push(piece.subarray(0, bytesMax - size));
      size += piece.byteLength;
      if (size > bytesMax) break;
    }
  } catch (error) {
    // The compressed data may be incomplete, because it was truncated here or because the body was empty.
    if (!isUnpackingError(error)) throw error;
    if (!packed.truncated && packed.bytes > 0) throw new OutgoingFailed('The answer is not packed as it says.', { cause: error });
  } finally {
    stream.destroy();
  }
  return { body: Buffer.concat(pieces), truncated: size > bytesMax || packed.truncated };
}

const upTo = (bytesMax: number, packed: { bytes: number; truncated: boolean }) =>
  async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      yield piece.subarray(0, bytesMax - packed.bytes);
      packed.bytes += piece.byteLength;
      packed.truncated = packed.bytes > bytesMax;
      if (packed.truncated) return;
    }
  };

function decoderFor(encoding = 'identity'): Transform {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return new PassThrough();
  if (name === 'gzip' || name === 'x-gzip') return createGunzip();
  if (name === 'deflate') return createInflate();
  if (name === 'br') return createBrotliDecompress();
  throw new OutgoingFailed('The answer is packed in a way that was not asked for.');
}

/** Whether zlib or brotli report invalid or incomplete data. */
const isUnpackingError = (error: unknown): boolean =>
  /^(Z_|ERR_?_)/.test(String((error as { code?: unknown } | undefined)?.code));
