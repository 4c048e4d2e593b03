import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** Assumed where the system does not report the limit: the usual limit of a login session. */
const DESCRIPTORS_ASSUMED = 1024;
/** The share of descriptors that must be free for the process to count as ready. */
const SPARE_SHARE = 1 / 16;

/** The service needs at least this many: for its database, its files and a few connections. */
export const DESCRIPTORS_MIN = 256;

/** @throws Error if the limit of this process is below DESCRIPTORS_MIN */
export function requireDescriptors(max = descriptorsMax()): void {
  if (max >= DESCRIPTORS_MIN) return;
  throw new Error(`This process may open ${max} files, and needs ${DESCRIPTORS_MIN} at least: raise the limit (ulimit -n).`);
}

/** The maximum number of open files, connections and pipes of this process. */
export function descriptorsMax(limitsFile = '/proc/self/limits'): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(limitsFile, 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number(soft ?? DESCRIPTORS_ASSUMED);
  } catch {
    return DESCRIPTORS_ASSUMED;
  }
}

/** @throws Error if almost all descriptors are in use */
export async function checkDescriptors(max = descriptorsMax(), folder = '/proc/self/fd'): Promise<void> {
  const open = await openDescriptors(folder);
  if (open !== undefined && open > max * (1 - SPARE_SHARE)) throw new Error(`${open} of ${max} file descriptors are in use.`);
}

/** Undefined where the system does not report it. */
async function openDescriptors(folder: string): Promise<number | undefined> {
  try {
    // One of them is the folder's own descriptor.
    return (await readdir(folder)).length - 1;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
