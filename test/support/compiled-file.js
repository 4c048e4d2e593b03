import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'projections', 'test'];
const hashOf = (text) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** The compiled files, in the same folders as the sources. Several checkouts may share one `node_modules`. */
const CACHE = join(realpathSync(join(ROOT, 'node_modules')), '.cache/verbatim-typescript', hashOf(ROOT));
const CONFIG = join(ROOT, '.swcrc');
const { version } = createRequire(import.meta.url)('@swc/core/package.json');
/** Another compiler, or other settings, compile everything again. */
const SETTINGS = [version, ...[CONFIG, import.meta.filename].map(read)].join(' ');

/** Makes the folder of compiled files a package, whose imports of `@jest/globals` get the replacement. */
const PACKAGE = {
  'package.json': JSON.stringify({ type: 'module' }),
  'node_modules/@jest/globals/package.json': JSON.stringify({ type: 'module', exports: './index.js' }),
  'node_modules/@jest/globals/index.js': `export * from '${new URL('./jest/globals.js', import.meta.url).href}';`,
};

export const isSource = (file) => /(?<!\.d)\.ts$/.test(file);
/** The path of a compiled file. A later state of the file replaces the earlier one, so the cache does not grow. */
export const compiledPath = (file) => join(CACHE, relative(ROOT, file).replace(/\.ts$/, '.js'));
export const sourceMapPath = (file) => `${file}.map`;
export const isCompiled = (file) => file.startsWith(CACHE + sep);

/** The last line of the compiled file: the state in which it was compiled. */
function stateOf(file) {
  const { mtimeMs, size } = statSync(file);
  return `\n// ${hashOf(JSON.stringify([SETTINGS, mtimeMs, size]))}`;
}

/** A TypeScript file as JavaScript. A file of this repository is compiled once per state. */
export async function compiled(file) {
  if (!file.startsWith(ROOT)) return (await compile(file)).text;
  const [path, state] = [compiledPath(file), stateOf(file)];
  const kept = read(path);
  if (kept?.endsWith(state)) return kept;
  const { text, map } = await compile(file);
  write(sourceMapPath(path), map);
  write(path, `${text}${state}`);
  return text;
}

async function compile(file) {
  // Most processes find every file compiled, and do not load the compiler.
  const { transformFile } = await import('@swc/core');
  const { code, map } = await transformFile(file, { configFile: CONFIG, sourceMaps: true });
  return { text: `${originOf(file, code)}${namingPrograms(file, code)}`, map };
}

/** Names the compiled file where a module names another one by its URL, because a process or a thread starts from it. */
function namingPrograms(file, code) {
  return code.replace(/new URL\('(\.[^']+)\.js', import\.meta\.url\)/g, (url, name) => {
    const source = resolve(dirname(file), `${name}.ts`);
    return existsSync(source) ? `new URL('${pathToFileURL(compiledPath(source))}')` : url;
  });
}

/** Lets a module look for files beside its source. It takes no line of its own, so the source map holds. */
function originOf(file, code) {
  if (!code.includes('import.meta')) return '';
  const origin = { url: pathToFileURL(file).href, dirname: dirname(file), filename: file };
  return `Object.assign(import.meta, ${JSON.stringify(origin)});`;
}

/**
 * Compiles all files of the repository that changed, and removes what has no source. Node then loads the compiled files by
 * itself, without asking a loader for each import.
 */
export async function compileAll() {
  const sources = FOLDERS.flatMap((folder) => filesUnder(join(ROOT, folder))).filter(isSource);
  await Promise.all(sources.map(compiled));
  const wanted = new Set(sources.map(compiledPath).flatMap((path) => [path, sourceMapPath(path)]));
  const outputs = FOLDERS.flatMap((folder) => filesUnder(join(CACHE, folder)));
  for (const path of outputs.filter((each) => /\.js(\.map)?$/.test(each))) if (!wanted.has(path)) rmSync(path, { force: true });
  for (const [name, text] of Object.entries(PACKAGE)) if (read(join(CACHE, name)) !== text) write(join(CACHE, name), text);
}

function filesUnder(folder) {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return [];
  }
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
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.${Math.random()}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
