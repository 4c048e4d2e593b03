import { readFileSync } from 'node:fs';

/** Linux reports CPU time in hundredths of a second. */
const TICK_MS = 10;

/** The CPU time of a thread of this process in milliseconds, by its system id; undefined where the system does not report it. */
export function threadTimeMs(thread: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    // The name in parentheses may contain spaces and parentheses. The times are the 12th and 13th field after it.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return TICK_MS * (Number(user) + Number(system));
  } catch {
    return undefined;
  }
}

/** Code for a thread's program that returns its system id, or an empty string. */
export const OWN_THREAD = `(() => {
  try { return require('node:fs').readlinkSync('/proc/thread-self').split('/').at(-1); } catch { return ''; }
})()`;
