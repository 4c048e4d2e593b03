import { statfsSync } from 'node:fs';
import { degraded, type Impairment } from '../kernel/conditions.js';

/** With less free space, Postgres cannot create the next WAL segment, which it does before it stops. */
export const FREE_BYTES_MIN = 16 * 1024 * 1024;

type Space = Readonly<{ bavail: number; bsize: number }>;

/** Whether less than FREE_BYTES_MIN is free in a folder. False where the system does not report it. */
export function hasNoSpace(folder: string, look: (folder: string) => Space = statfsSync): boolean {
  try {
    const { bavail, bsize } = look(folder);
    return bavail * bsize < FREE_BYTES_MIN;
  } catch {
    return false;
  }
}

/** `degraded` if the disk is full: stored data can still be read, so requests are answered. */
export const spaceImpairment = (folder: string, look?: (folder: string) => Space): Impairment | undefined =>
  hasNoSpace(folder, look)
    ? degraded(`There is no space left in DATA_DIR: fewer than ${FREE_BYTES_MIN} bytes are free.`)
    : undefined;
