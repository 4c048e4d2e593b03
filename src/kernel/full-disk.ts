import { types } from 'node:util';

/** What the system says of a file, and Postgres of its own files, whose disk or quota is used up. */
const FILE_CODES = new Set(['ENOSPC', 'EDQUOT']);
const POSTGRES_DISK_FULL = '53100';
/** Postgres knows no code of its own for a quota that is used up, nor always for a full disk: only the text says so. */
const POSTGRES_FILE_ERRORS = new Set(['58030', 'XX000']);

const CAUSES_MAX = 5;

/** Whether a text of the system or of Postgres says that there is no space left. */
export const namesFullDisk = (text: string): boolean => /no space left on device|disk quota exceeded/i.test(text);

/** Whether an error says, by itself or by its cause, that something could not be stored for lack of space. */
export function isDiskFull(error: unknown): boolean {
  for (let cause = error, depth = 0; types.isNativeError(cause) && depth < CAUSES_MAX; cause = cause.cause, depth++) {
    const { code } = cause as { code?: unknown };
    if (typeof code !== 'string') continue;
    if (FILE_CODES.has(code) || code === POSTGRES_DISK_FULL) return true;
    if (POSTGRES_FILE_ERRORS.has(code) && namesFullDisk(cause.message)) return true;
  }
  return false;
}
