import { refused } from './notebook.policy.js';

export const PATH_CHARACTERS_MAX = 256;

export const ROOT = '/';

const UNSPEAKABLE = /[\u0000-\u001f\u007f\\]/;

/**
 * The normal form of a path in a memory, from the root: `notes//a.md`, `/notes/./a.md` and `/notes/a.md/` all become
 * `/notes/a.md`. A path with `..` is refused. @throws Rejection tool-call-refused
 */
export function memoryPath(name: string, given: string): string {
  const path = given.trim().normalize('NFC');
  if (path === '') throw refused(`\`${name}\` is empty: name a place such as /notes/plan.md.`);
  if (UNSPEAKABLE.test(path)) throw refused(`\`${name}\` must not contain backslashes or control characters.`);
  const steps = path.split('/').filter((step) => step !== '' && step !== '.');
  if (steps.some((step) => step.trim() === '..')) throw refused(`\`${name}\` must not contain "..": paths begin at the root, /.`);
  const normal = ROOT + steps.join('/');
  if ([...normal].length > PATH_CHARACTERS_MAX) throw tooLong(name);
  return normal;
}

export const tooLong = (name: string) => refused(`\`${name}\` is longer than ${PATH_CHARACTERS_MAX} characters.`);

/** Whether a path is under a directory, at any depth. */
export const isUnder = (path: string, directory: string): boolean =>
  directory === ROOT ? path !== ROOT : path.startsWith(`${directory}/`);
