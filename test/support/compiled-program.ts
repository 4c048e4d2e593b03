import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, lstat, mkdir, readdir, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { transformFile } from '@swc/core';

const ROOT = join(import.meta.dirname, '..', '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'verbatim-program');
const KEPT_MS = 24 * 3_600_000;
const POLL_MS = 100;
/** Longer than compiling takes on a slow machine. An older claim is of a process that was killed, even if its pid is in use again. */
const CLAIMED_MS_MAX = 5 * 60_000;

const compiling = new Map<string, Promise<void>>();

/**
 * The program as it is in the working tree, compiled and bundled into a separate folder, once per state of the sources. Test
 * processes start from there, so a build that changes `dist` does not disturb them.
 */
export async function compiledProgram(): Promise<string> {
  const sources = ['build.js', 'README.md', ...(await Promise.all(['docs', 'src', 'projections'].map(filesUnder))).flat().sort()];
  const states = await Promise.all(sources.map(async (file) => [file, await stateOf(file)]));
  const folder = join(CACHE, createHash('sha256').update(JSON.stringify(states)).digest('hex').slice(0, 16));
  if (await exists(folder)) return folder;
  const underWay = compiling.get(folder) ?? compileOnce(folder, sources);
  compiling.set(folder, underWay);
  await underWay.finally(() => compiling.delete(folder));
  return folder;
}

/**
 * One process compiles, and the others wait for it. On a new clone the first suites need the program at the same moment, and if
 * each compiled it, all of them would have to wait several times as long.
 */
async function compileOnce(folder: string, sources: readonly string[]): Promise<void> {
  const claim = `${folder}.claim`;
  await mkdir(CACHE, { recursive: true });
  for (; !(await exists(folder)); await pause(POLL_MS)) {
    if (!(await claims(claim))) continue;
    try {
      if (!(await exists(folder))) await compileInto(folder, sources);
    } finally {
      await rm(claim, { force: true });
    }
  }
}

/** Takes a claim, which names its process, unless a running process has it. */
async function claims(claim: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), claim);
    return true;
  } catch {
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

async function compileInto(folder: string, sources: readonly string[]): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await Promise.all(sources.map((file) => compile(file, draft)));
  // Below node_modules no package.json says that the files are ES modules.
  await writeFile(join(draft, 'package.json'), '{"type":"module"}');
  await promisify(execFile)(process.execPath, ['build.js', '--bundle', draft], { cwd: ROOT });
  await sweepCache();
  await rename(draft, folder).catch(async (error: unknown) => {
    if (!(await exists(folder))) throw error;
    await rm(draft, { recursive: true, force: true });
  });
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true });
  return entries
    .filter((name) => /\.(ts|mjs|sql|json|md)$/.test(name) && !name.endsWith('.spec.ts'))
    .map((name) => join(folder, name));
}

async function stateOf(file: string): Promise<string> {
  const { mtimeMs, size } = await stat(join(ROOT, file));
  return `${mtimeMs} ${size}`;
}

async function compile(file: string, folder: string): Promise<void> {
  const target = join(folder, file);
  await mkdir(dirname(target), { recursive: true });
  if (!file.endsWith('.ts')) return copyFile(join(ROOT, file), target);
  const { code } = await transformFile(join(ROOT, file), { configFile: join(ROOT, '.swcrc'), sourceMaps: false });
  await writeFile(target.replace(/\.ts$/, '.js'), code);
}

async function sweepCache(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const { mtimeMs } = await lstat(join(CACHE, name)).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > KEPT_MS) await rm(join(CACHE, name), { recursive: true, force: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
