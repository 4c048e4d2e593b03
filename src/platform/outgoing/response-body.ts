import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutgoingFailed } from './outgoing-http.port.js';

export type ReadBody = Readonly<{ body: Uint8Array; truncated: boolean }>;

export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Reads a body up to so many bytes, unpacked, and no further: what a small body would unpack to beyond that is never made.
 * Nor are more packed bytes taken, since there are packed ones that unpack to nothing. @throws OutgoingFailed
 */
export async function readBody(stream: Readable, encoding: string | undefined, bytesMax: number): Promise<ReadBody> {
  const packed = { bytes: 0, truncated: false };
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Letting go of a stream that has not ended is an error to it, and none to anybody else.
  stream.on('error', () => undefined);
  try {
    const unpacked = pipeline(stream, upTo(bytesMax, packed), decoderFor(encoding), () => undefined);
    for await (const piece of unpacked as AsyncIterable<Uint8Array>) {
      pieces.push(piece.subarray(0, bytesMax - size));
      size += piece.byteLength;
      if (size > bytesMax) break;
    }
  } catch (error) {
    // The end of what is packed may be missing: because it was cut here, or because nothing was sent at all.
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

/** As zlib and brotli say that bytes are none of theirs, or too few. */
const isUnpackingError = (error: unknown): boolean =>
  /^(Z_|ERR_?_)/.test(String((error as { code?: unknown } | undefined)?.code));
