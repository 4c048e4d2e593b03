import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';
import { startOf } from './process-table.js';

/** Another living process already uses the directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

const TAKEOVERS_MAX = 5;

/**
 * Makes this process the one owner of a directory until `release`. The lock names its owner by pid and start time, so
 * one left behind by a dead process, even if its pid lives again in another, is taken over. @throws DirectoryInUse
 */
export function lockDirectory(lockFile: string): { release(): void } {
  const own = `${process.pid} ${startOf(process.pid) ?? 'unknown'}\n`;
  mkdirSync(dirname(lockFile), { recursive: true });
  for (let attempt = 1; attempt <= TAKEOVERS_MAX; attempt++) {
    if (createWhole(lockFile, own)) return { release: () => releaseIfOwn(lockFile, own) };
    const found = contentOf(lockFile);
    if (found === undefined) continue;
    if (isAlive(found)) throw new DirectoryInUse(inUse(lockFile, found));
    moveAsideIfSame(lockFile, found);
  }
  throw new DirectoryInUse(`${lockFile} changes hands all the time: is something starting this service in a loop?`);
}

const inUse = (lockFile: string, found: string): string =>
  `${dirname(lockFile)} is in use by process ${found.split(' ')[0]}. Stop it first, or give this one another DATA_DIR or a DATABASE_URL.`;

function isAlive(owner: string): boolean {
  const [, pid, start] = /^(\d+) (.+)\n$/.exec(owner) ?? [];
  return pid !== undefined && startOf(Number(pid)) === start;
}

/** The file appears with its content or not at all: a link cannot replace, and never shows half a file. */
function createWhole(path: string, content: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, content, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    unlinkSync(draft);
  }
}

/** Of two that found the same stale lock, the slower may catch the faster one's fresh lock: it puts that back. */
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

function releaseIfOwn(path: string, own: string): void {
  if (contentOf(path) === own) unlinkSync(path);
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
