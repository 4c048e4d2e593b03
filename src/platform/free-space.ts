import { statfsSync } from 'node:fs';
import { degraded, type Impairment } from '../kernel/conditions.js';

/** With less Postgres cannot begin the next segment of its journal, which it does before it stops. */
export const FREE_BYTES_MIN = 16 * 1024 * 1024;

type Space = Readonly<{ bavail: number; bsize: number }>;

/** Whether next to nothing more can be stored in a folder. False where the system does not tell. */
export function hasNoSpace(folder: string, look: (folder: string) => Space = statfsSync): boolean {
  try {
    const { bavail, bsize } = look(folder);
    return bavail * bsize < FREE_BYTES_MIN;
  } catch {
    return false;
  }
}

/** What is stored can still be read, so that requests are answered. */
export const spaceImpairment = (folder: string, look?: (folder: string) => Space): Impairment | undefined =>
  hasNoSpace(folder, look)
    ? degraded(`There is no space left in DATA_DIR: fewer than ${FREE_BYTES_MIN} bytes are free.`)
    : undefined;
