import { readFileSync } from 'node:fs';

/** Linux tells processor time in hundredths of a second, whatever its clock. */
const TICK_MS = 10;

/** The processor time that a thread of this process has had, by the id that the system gives it; undefined where the system does not tell. */
export function threadTimeMs(thread: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    // The name in parentheses may itself hold blanks and parentheses; the times are the 12th and 13th field after it.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return TICK_MS * (Number(user) + Number(system));
  } catch {
    return undefined;
  }
}

/** For the program of a thread: what it is called in the system, or an empty text. */
export const OWN_THREAD = `(() => {
  try { return require('node:fs').readlinkSync('/proc/thread-self').split('/').at(-1); } catch { return ''; }
})()`;
