import { types } from 'node:util';

/** Error codes of the operating system for a full disk or an exhausted quota. */
const FILE_CODES = new Set(['ENOSPC', 'EDQUOT']);
const POSTGRES_DISK_FULL = '53100';
/** Postgres has no code for an exhausted quota and reports some full disks with these codes. Only the text tells them apart. */
const POSTGRES_FILE_ERRORS = new Set(['58030', 'XX000']);

const CAUSES_MAX = 5;

/** Whether a message of the operating system or of Postgres reports that no space is left. */
export const namesFullDisk = (text: string): boolean => /no space left on device|disk quota exceeded/i.test(text);

/** Whether an error, or one of its causes, reports a full disk or an exhausted quota. */
export function isDiskFull(error: unknown): boolean {
  for (let cause = error, depth = 0; types.isNativeError(cause) && depth < CAUSES_MAX; cause = cause.cause, depth++) {
    const { code } = cause as { code?: unknown };
    if (typeof code !== 'string') continue;
    if (FILE_CODES.has(code) || code === POSTGRES_DISK_FULL) return true;
    if (POSTGRES_FILE_ERRORS.has(code) && namesFullDisk(cause.message)) return true;
  }
  return false;
}
