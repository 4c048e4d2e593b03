import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BlobMissing, type BlobRef, Blobs } from '../../src/kernel/blobs.js';

/** Blobs in memory. */
export class InMemoryBlobs extends Blobs {
  private readonly blobs = new Map<string, Buffer>();

  /** All blobs as one text. */
  text(): string {
    return [...this.blobs.values()].map((bytes) => bytes.toString('utf8')).join('\n');
  }

  async put(bytes: Readable): Promise<BlobRef> {
    const whole = await buffer(bytes);
    const sha256 = createHash('sha256').update(whole).digest('hex');
    this.blobs.set(sha256, whole);
    return { sha256, size: whole.length };
  }

  get(sha256: string): Promise<Readable> {
    const blob = this.blobs.get(sha256);
    return blob ? Promise.resolve(Readable.from([blob])) : Promise.reject(new BlobMissing(`There is no blob ${sha256}.`));
  }

  delete(sha256: string): Promise<void> {
    this.blobs.delete(sha256);
    return Promise.resolve();
  }
}
