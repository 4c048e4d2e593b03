import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { BlobMissing, type BlobRef, Blobs, isBlobName } from '../../kernel/blobs.js';
import { meaningOf, writeHashedFile } from './hashed-file.js';
import { openUploads, PRIVATE_FOLDER } from './uploads-folder.js';

/** Blobs as files `ab/cd/abcd…` in a folder. A file gets its name only after all its bytes are on the disk. */
export class FolderBlobs extends Blobs {
  private readonly uploads: string;
  private ready: Promise<void> | undefined;

  constructor(private readonly folder: string) {
    super();
    this.uploads = join(folder, 'uploads');
  }

  async put(bytes: Readable): Promise<BlobRef> {
    const upload = join(this.uploads, randomUUID());
    try {
      await (this.ready ??= openUploads(this.uploads));
      const ref = await writeHashedFile(bytes, upload);
      await this.give(ref.sha256, upload);
      return ref;
    } catch (error) {
      this.ready = undefined;
      bytes.destroy();
      await rm(upload, { force: true });
      throw meaningOf(error);
    }
  }

  async get(sha256: string): Promise<Readable> {
    if (!isBlobName(sha256)) throw new BlobMissing(`${sha256} names no blob.`);
    try {
      return (await open(this.pathOf(sha256))).createReadStream();
    } catch (error) {
      throw isMissing(error) ? new BlobMissing(`There is no blob ${sha256}.`, { cause: error }) : error;
    }
  }

  async delete(sha256: string): Promise<void> {
    if (isBlobName(sha256)) await rm(this.pathOf(sha256), { force: true });
  }

  private pathOf(sha256: string): string {
    return join(this.folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  private async give(sha256: string, upload: string): Promise<void> {
    const path = this.pathOf(sha256);
    const shard = dirname(path);
    const isNew = (await mkdir(shard, PRIVATE_FOLDER)) !== undefined;
    await rename(upload, path);
    for (const folder of isNew ? [shard, dirname(shard), this.folder] : [shard]) await syncFolder(folder);
  }
}

/** Syncs a folder, so that a renamed file survives a power cut. Some platforms cannot sync a folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
