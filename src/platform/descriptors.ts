import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** Where the system does not tell; what a login usually has. */
const DESCRIPTORS_ASSUMED = 1024;
/** So much of them has to be left for the process to count as able to work. */
const SPARE_SHARE = 1 / 16;

/** With fewer than this the service cannot start: its database, its files and a few connections take as many. */
export const DESCRIPTORS_MIN = 256;

/** @throws Error when this process may not open as many as it starts with */
export function requireDescriptors(max = descriptorsMax()): void {
  if (max >= DESCRIPTORS_MIN) return;
  throw new Error(`This process may open ${max} files, and needs ${DESCRIPTORS_MIN} at least: raise the limit (ulimit -n).`);
}

/** How many files, connections and pipes this process may have open at a time. */
export function descriptorsMax(limitsFile = '/proc/self/limits'): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(limitsFile, 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number(soft ?? DESCRIPTORS_ASSUMED);
  } catch {
    return DESCRIPTORS_ASSUMED;
  }
}

/** @throws Error when next to no file or connection can be opened any more */
export async function checkDescriptors(max = descriptorsMax(), folder = '/proc/self/fd'): Promise<void> {
  const open = await openDescriptors(folder);
  if (open !== undefined && open > max * (1 - SPARE_SHARE)) throw new Error(`${open} of ${max} file descriptors are in use.`);
}

/** Undefined where the system does not tell. */
async function openDescriptors(folder: string): Promise<number | undefined> {
  try {
    // One of them is that of the folder.
    return (await readdir(folder)).length - 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
