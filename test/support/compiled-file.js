import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile, version } from '@swc/core';

const CONFIG = fileURLToPath(new URL('../../.swcrc', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/verbatim-typescript/', import.meta.url));
const SETTINGS = `${version} ${readFileSync(CONFIG, 'utf8')}`;

const hashOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** The cache path of a compiled file. A later state of the file replaces the earlier one, so the cache does not grow. */
const compiledPath = (file) => join(CACHE, `${hashOf(file)}.js`);

/** The last line of the compiled file: the state in which it was compiled. */
function stateOf(file) {
  const { mtimeMs, size } = statSync(file);
  return `\n// ${hashOf(JSON.stringify([SETTINGS, mtimeMs, size]))}`;
}

export const sourceMapPath = (file) => `${compiledPath(file)}.map`;

/** A TypeScript file as JavaScript, compiled once per state of the file. */
export async function compiled(file) {
  const [path, state] = [compiledPath(file), stateOf(file)];
  const kept = read(path);
  if (kept?.endsWith(state)) return kept;
  const { code, map } = await transformFile(file, { configFile: CONFIG, sourceMaps: true });
  mkdirSync(CACHE, { recursive: true });
  write(`${path}.map`, map);
  write(path, `${code}${state}`);
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
