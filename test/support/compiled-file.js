import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile, version } from '@swc/core';

const CONFIG = fileURLToPath(new URL('../../.swcrc', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/verbatim-typescript/', import.meta.url));
const SETTINGS = `${version} ${readFileSync(CONFIG, 'utf8')}`;

/** The cache path of the compiled file in its present state. The source map is stored beside it. */
function compiledPath(file) {
  const { mtimeMs, size } = statSync(file);
  const name = createHash('sha256')
    .update(JSON.stringify([SETTINGS, file, mtimeMs, size]))
    .digest('hex')
    .slice(0, 32);
  return join(CACHE, `${name}.js`);
}

export const sourceMapPath = (file) => `${compiledPath(file)}.map`;

/** A TypeScript file as JavaScript, compiled once per state of the file. */
export async function compiled(file) {
  const path = compiledPath(file);
  const kept = read(path);
  if (kept !== undefined) return kept;
  const { code, map } = await transformFile(file, { configFile: CONFIG, sourceMaps: true });
  mkdirSync(CACHE, { recursive: true });
  write(`${path}.map`, map);
  write(path, code);
  return code;
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Writes the file atomically, because other processes compile the same file at the same time. */
function write(path, text) {
  const draft = `${path}.${process.pid}.${Math.random()}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
