import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from './process-table.js';

/** Another running process uses the directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

export type DirectoryLock = Readonly<{ release(): void }>;

/**
 * The heartbeat interval of an owner, and the silence after which an owner on another host or in another container counts as
 * dead.
 */
const SIGN_OF_LIFE_MS = 2_000;
export const SILENCE_MAX_MS = 8_000;
const ATTEMPTS_MAX = 100;
const POLL_MS = 100;

/**
 * Makes this process the only owner of a directory until `release`. The lock identifies its owner by host, pid and start time, so
 * that the lock of a dead process is taken over even if its pid was reused. @throws DirectoryInUse, or an error that names what
 * is at the path of the lock file
 */
export async function lockDirectory(lockFile: string): Promise<DirectoryLock> {
  if (statSync(lockFile, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${lockFile} is a folder, where the lock of ${dirname(lockFile)} is to be a file: remove the folder.`);
  const heartbeats = new Heartbeats(lockFile);
  const own = `${hostname()} ${process.pid} ${startOf(process.pid) ?? 'unknown'}\n`;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    if (createWhole(lockFile, own)) return held(lockFile, own);
    const found = contentOf(lockFile);
    const state = found === undefined ? 'gone' : stateOf(found, heartbeats);
    if (state === 'alive') break;
    if (state === 'dead') moveAsideIfSame(lockFile, found!);
    if (state === 'unsure') await sleep(POLL_MS);
  }
  const owner = contentOf(lockFile)?.split(' ');
  throw new DirectoryInUse(
    `${dirname(lockFile)} is in use by process ${owner?.[1]} on ${owner?.[0]}. ` +
      'Stop it first, or give this one another DATA_DIR or a DATABASE_URL.',
  );
}

function held(lockFile: string, own: string): DirectoryLock {
  const signsOfLife = setInterval(() => showLife(lockFile, own), SIGN_OF_LIFE_MS).unref();
  return {
    release: () => {
      clearInterval(signsOfLife);
      if (contentOf(lockFile) === own) unlinkSync(lockFile);
    },
  };
}

/** Writes a heartbeat. If no file can be opened at the moment, the next heartbeat follows at its interval. */
function showLife(lockFile: string, own: string): void {
  const now = new Date();
  try {
    if (contentOf(lockFile) === own) utimesSync(lockFile, now, now);
  } catch {
    // An error thrown in a timer would end the process.
  }
}

/** Looks processes of this host up. For owners on other hosts only the heartbeat counts. */
function stateOf(owner: string, heartbeats: Heartbeats): 'alive' | 'dead' | 'unsure' | 'gone' {
  const [, host, pid, start] = /^(\S+) (\d+) (.+)\n$/.exec(owner) ?? [];
  if (host === hostname()) return startOf(Number(pid)) === start ? 'alive' : 'dead';
  const silentMs = heartbeats.silentMs();
  if (silentMs === undefined) return 'gone';
  return silentMs > SILENCE_MAX_MS ? 'dead' : 'unsure';
}

/**
 * The heartbeats of an owner on another host. Only that they change counts, and not their times, because the clocks of two hosts
 * may differ, and a wrong guess gives the directory to two processes.
 */
class Heartbeats {
  private last: number | undefined;
  private since = 0;

  constructor(private readonly lockFile: string) {}

  /** For how long the heartbeat has not changed while this process looked; undefined if there is no lock. */
  silentMs(): number | undefined {
    const seen = statSync(this.lockFile, { throwIfNoEntry: false })?.mtimeMs;
    const now = performance.now();
    if (seen !== this.last) [this.last, this.since] = [seen, now];
    return seen === undefined ? undefined : now - this.since;
  }
}

/** Creates a file with its content atomically. A hard link never replaces a file and never shows a partial one. */
function createWhole(path: string, content: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { mode: 0o600 });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Moves a stale lock away. If another process has replaced it meanwhile, puts that process's lock back. */
function moveAsideIfSame(path: string, stale: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = contentOf(aside);
  if (moved !== undefined && moved !== stale) createWhole(path, moved);
  unlinkSync(aside);
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
