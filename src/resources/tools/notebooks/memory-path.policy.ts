import { refused } from './notebook.policy.js';

export const PATH_CHARACTERS_MAX = 256;

export const ROOT = '/';

const UNSPEAKABLE = /[\u0000-\u001f\u007f\\]/;

/**
 * A place in a memory, from its root on and in one spelling only: `notes//a.md`, `/notes/./a.md` and `/notes/a.md/` are all
 * `/notes/a.md`. There is nothing above the root, so a path that climbs is refused rather than resolved.
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

/** Whether a file is under a directory, at any depth. */
export const isUnder = (path: string, directory: string): boolean =>
  directory === ROOT ? path !== ROOT : path.startsWith(`${directory}/`);
