import type { SourceFile } from './source.events.js';

/** So many files are named where all of them are told of. */
const NAMES_MAX = 100;

/** Files as they are told of. */
export function namesOf(files: readonly SourceFile[] = []): string {
  const names = files.slice(0, NAMES_MAX).map(({ filename }) => filename);
  const others = files.length - names.length;
  return others > 0 ? `${names.join(', ')} and ${others} more` : names.join(', ');
}
