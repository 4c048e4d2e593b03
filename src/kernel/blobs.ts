import type { Readable } from 'node:stream';

/** The reference of a blob: the hash and the size in bytes of its content. */
export type BlobRef = Readonly<{ sha256: string; size: number }>;

/** Whether a text can name a blob: a SHA-256 in lower-case hexadecimal digits. */
export const isBlobName = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';
}

/** The blob store did not answer in time. A blob that was being written is not stored. */
export class BlobsUnavailable extends Error {
  override readonly name = 'BlobsUnavailable';
}

/** All bytes of a blob, in a fresh buffer that only the caller uses. @throws BlobMissing, BlobsUnavailable */
export async function bytesOf(blobs: Blobs, { sha256, size }: BlobRef): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of await blobs.get(sha256)) {
    bytes.set(chunk as Buffer, filled);
    filled += (chunk as Buffer).byteLength;
  }
  return bytes;
}

/** The store of uploaded bytes. Events hold only the reference. A blob never changes, and equal bytes are stored once. */
export abstract class Blobs {
  /** Stores all bytes of the stream or none. @throws BlobsUnavailable, or the stream's own error */
  abstract put(bytes: Readable): Promise<BlobRef>;
  /** @throws BlobMissing */
  abstract get(sha256: string): Promise<Readable>;
  abstract delete(sha256: string): Promise<void>;
}
