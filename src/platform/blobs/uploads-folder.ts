import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** An upload without writes for this long belongs to a process that has crashed. */
export const ABANDONED_AFTER_MS = 60 * 60 * 1000;

/** Blobs contain what users uploaded, so other users of the machine may not read them. */
export const PRIVATE_FOLDER = { recursive: true, mode: 0o700 };

/** Creates the staging folder, and deletes abandoned uploads. */
export async function openUploads(folder: string, now = Date.now()): Promise<void> {
  await mkdir(folder, PRIVATE_FOLDER);
  for (const name of await readdir(folder)) {
    const upload = join(folder, name);
    const touched = await stat(upload).catch(() => undefined);
    if (touched && touched.mtimeMs < now - ABANDONED_AFTER_MS) await rm(upload, { force: true });
  }
}
