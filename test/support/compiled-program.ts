import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, lstat, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transformFile } from '@swc/core';
import { exists, madeOnce } from './made-once.js';

const ROOT = join(import.meta.dirname, '..', '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'verbatim-program');
const KEPT_MS = 24 * 3_600_000;

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
  const underWay = compiling.get(folder) ?? madeOnce(folder, () => compileInto(folder, sources));
  compiling.set(folder, underWay);
  await underWay.finally(() => compiling.delete(folder));
  return folder;
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
