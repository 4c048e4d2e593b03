import type { SourceFile } from './source.events.js';

/** The number of files that a list names. */
const NAMES_MAX = 100;

/** The names of files, as one text. */
export function namesOf(files: readonly SourceFile[] = []): string {
  const names = files.slice(0, NAMES_MAX).map(({ filename }) => filename);
  const others = files.length - names.length;
  return others > 0 ? `${names.join(', ')} and ${others} more` : names.join(', ');
}
