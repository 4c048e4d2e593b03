import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** An upload that was not written to for this long was left behind by a process that died. */
export const ABANDONED_AFTER_MS = 60 * 60 * 1000;

/** Makes the folder where bytes wait until all have come, and clears it of what was left behind. */
export async function openUploads(folder: string, now = Date.now()): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const upload = join(folder, name);
    const touched = await stat(upload).catch(() => undefined);
    if (touched && touched.mtimeMs < now - ABANDONED_AFTER_MS) await rm(upload, { force: true });
  }
}
