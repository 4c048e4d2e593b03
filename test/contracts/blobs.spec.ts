import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { BlobsUnavailable } from '../../src/kernel/blobs.js';
import { isDiskFull } from '../../src/kernel/full-disk.js';
import { FolderBlobs } from '../../src/platform/blobs/folder-blobs.js';
import { ABANDONED_AFTER_MS } from '../../src/platform/blobs/uploads-folder.js';
import { blobsContract } from './blobs.contract.js';

const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile()).map(({ name }) => name);

/** A stream that fails like a write: after some bytes. */
const failing = (error: Error) =>
  Readable.from(
    (function* () {
      yield Buffer.from('begun');
      throw error;
    })(),
  );

const newFolder = () => mkdtemp(join(tmpdir(), 'verbatim-blobs-'));

describe('blobs in a folder', () => {
  blobsContract(async () => {
    const folder = await newFolder();
    return {
      here: new FolderBlobs(folder),
      there: new FolderBlobs(folder),
      kept: async () => (await filesOf(folder)).length,
      close: () => rm(folder, { recursive: true }),
    };
  });

  it('remove the partial upload of a crashed process, but not one that another process is still writing', async () => {
    const folder = await newFolder();
    await mkdir(join(folder, 'uploads'));
    for (const name of ['abandoned', 'going on']) await writeFile(join(folder, 'uploads', name), 'x');
    const longAgo = (Date.now() - ABANDONED_AFTER_MS - 1_000) / 1_000;
    await utimes(join(folder, 'uploads', 'abandoned'), longAgo, longAgo);
    await new FolderBlobs(folder).put(Readable.from(['y']));
    expect(await readdir(join(folder, 'uploads'))).toEqual(['going on']);
    await rm(folder, { recursive: true });
  });

  it('are closed to other users of the machine', async () => {
    const folder = await newFolder();
    await new FolderBlobs(join(folder, 'blobs')).put(Readable.from(['private']));
    const paths = ['blobs', ...(await readdir(join(folder, 'blobs'), { recursive: true })).map((name) => join('blobs', name))];
    expect(paths).toHaveLength(5);
    for (const path of paths) expect((await stat(join(folder, path))).mode & 0o077).toBe(0);
    await rm(folder, { recursive: true });
  });

  it('report a full disk as unavailability, with that reason', async () => {
    const folder = await newFolder();
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const failure: unknown = await new FolderBlobs(folder).put(failing(full)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BlobsUnavailable);
    expect(isDiskFull(failure)).toBe(true);
    expect(await filesOf(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });

  it('report what is wrong with the folder, and work once it is repaired', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'uploads'), 'a file where a folder should be');
    const blobs = new FolderBlobs(folder);
    const bytes = Readable.from(['y']);
    await expect(blobs.put(bytes)).rejects.toThrow(/EEXIST|ENOTDIR/);
    expect(bytes.destroyed).toBe(true);
    await rm(join(folder, 'uploads'));
    expect((await blobs.put(Readable.from(['y']))).size).toBe(1);
    await rm(folder, { recursive: true });
  });
});
