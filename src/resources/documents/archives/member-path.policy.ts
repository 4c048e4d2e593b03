import { storableText } from '../storable-text.policy.js';

/** People do not give files longer paths. */
export const PATH_CHARACTERS_MAX = 400;

/** Files that operating systems add to archives. */
const OF_THE_SYSTEM = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._)/i;

export const isOfTheSystem = (path: string): boolean => OF_THE_SYSTEM.test(path);

/** The path of a file in an archive. Undefined if it is absolute, leads out of the archive, or is too long. */
export function memberPathOf(name: string): string | undefined {
  const written = storableText(name).replaceAll('\\', '/');
  if (written.startsWith('/') || /^[a-z]:/i.test(written)) return undefined;
  const steps = written.split('/').filter((step) => step !== '' && step !== '.');
  if (steps.length === 0 || steps.includes('..')) return undefined;
  const path = steps.join('/');
  return path.length > PATH_CHARACTERS_MAX ? undefined : path;
}

/** The path, with a number added if another file has the same path. */
export function uniquePath(path: string, taken: Set<string>): string {
  const dot = path.lastIndexOf('.');
  const [stem, ending] = dot > path.lastIndexOf('/') + 1 ? [path.slice(0, dot), path.slice(dot)] : [path, ''];
  let unique = path;
  for (let number = 2; taken.has(unique); number++) unique = `${stem} (${number})${ending}`;
  taken.add(unique);
  return unique;
}
