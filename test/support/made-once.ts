import { lstat, mkdir, readlink, rm, stat, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 100;
/** Longer than compiling takes on a slow machine. An older claim is of a process that was killed, even if its pid is in use again. */
const CLAIMED_MS_MAX = 5 * 60_000;
/** Long enough to take over from a process that does not end. */
const WAIT_MS_MAX = 2 * CLAIMED_MS_MAX;

/**
 * One process makes the file or folder, and the others wait for it. On a new clone the first suites need the program at the same
 * moment, and if each compiled it, all of them would have to wait several times as long.
 */
export async function madeOnce(path: string, make: () => Promise<void>, waitMsMax = WAIT_MS_MAX): Promise<void> {
  const claim = `${path}.claim`;
  await mkdir(dirname(path), { recursive: true });
  const began = performance.now();
  for (; !(await exists(path)); await pause(POLL_MS)) {
    if (!(await claims(claim))) {
      if (performance.now() - began > waitMsMax) throw new Error(`${path} is not made yet, and ${claim} is still there.`);
      continue;
    }
    try {
      if (!(await exists(path))) await make();
    } finally {
      await rm(claim, { force: true });
    }
  }
}

/**
 * Takes a claim, which names its process, unless a running process has it. Of two processes that find it abandoned, one may remove
 * the new claim of the other. Then both compile, each into its own draft, which is harmless.
 */
async function claims(claim: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), claim);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (await isAbandoned(claim)) await rm(claim, { force: true });
    return false;
  }
}

async function isAbandoned(claim: string): Promise<boolean> {
  try {
    const [{ mtimeMs }, holder] = await Promise.all([lstat(claim), readlink(claim)]);
    return Date.now() - mtimeMs > CLAIMED_MS_MAX || !isRunning(Number(holder));
  } catch {
    return false; // It was released meanwhile.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
