import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type BlobRef, BlobsUnavailable } from '../../kernel/blobs.js';
import { isDiskFull } from '../../kernel/full-disk.js';

/** Readable for the owner alone. */
const PRIVATE_FILE = 0o600;

/** Writes a stream to a new private file, syncs it, and returns its hash and size. On an error the caller removes the partial file. */
export async function writeHashedFile(bytes: Readable, path: string): Promise<BlobRef> {
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', PRIVATE_FILE);
  try {
    await pipeline(bytes, async (chunks: AsyncIterable<Buffer | string>) => {
      for await (const chunk of chunks) {
        const buffer = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        hash.update(buffer);
        size += buffer.length;
        await writeAll(file, buffer);
      }
    });
    await file.sync();
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), size };
}

async function writeAll(file: FileHandle, buffer: Buffer): Promise<void> {
  for (let written = 0; written < buffer.length;) written += (await file.write(buffer, written)).bytesWritten;
}

/** The error of a failed write. A full disk becomes BlobsUnavailable, because a retry may succeed. */
export const meaningOf = (error: unknown): unknown =>
  isDiskFull(error) ? new BlobsUnavailable('There is no space left for blobs.', { cause: error }) : error;
