import { statfsSync } from 'node:fs';
import { degraded, type Impairment } from '../kernel/conditions.js';

/** With less free space, Postgres cannot create the next WAL segment, which it does before it stops. */
export const FREE_BYTES_MIN = 16 * 1024 * 1024;

/** What a rebuild leaves to the service. Between two checks it may write a batch of rows and their WAL. */
const REBUILD_LEAVES_BYTES = 4 * FREE_BYTES_MIN;

type Space = Readonly<{ bavail: number; bsize: number }>;

/** Whether less than a number of bytes is free in a folder. False where the system does not report it. */
export function hasNoSpace(folder: string, look: (folder: string) => Space = statfsSync, bytesMin = FREE_BYTES_MIN): boolean {
  try {
    const { bavail, bsize } = look(folder);
    return bavail * bsize < bytesMin;
  } catch {
    return false;
  }
}

/** @throws an error of a full disk before a rebuild fills the disk of the service */
export function requireSpaceLeft(folder: string, look?: (folder: string) => Space): void {
  if (!hasNoSpace(folder, look, REBUILD_LEAVES_BYTES)) return;
  const reason = `The rebuild would fill the disk: fewer than ${REBUILD_LEAVES_BYTES} bytes are free in DATA_DIR.`;
  throw Object.assign(new Error(reason), { code: 'ENOSPC' });
}

/** `degraded` if the disk is full: stored data can still be read, so requests are answered. */
export const spaceImpairment = (folder: string, look?: (folder: string) => Space): Impairment | undefined =>
  hasNoSpace(folder, look)
    ? degraded(`There is no space left in DATA_DIR: fewer than ${FREE_BYTES_MIN} bytes are free.`)
    : undefined;
