import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap, type SourceMapPayload } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';

/** What `build.js` makes of all programs and the packages they use: an expression, whose value is a function. */
const FILE = fileURLToPath(new URL('../../program/bundle.cjs', import.meta.url));
/** What V8 has compiled of it. Another version of V8, or one under other settings, does not take it. */
const CODE_FILE = `${FILE}.${cachedDataVersionTag()}`;
/** The bundle begins with a checksum in a comment, and code that is kept of it ends with the same. */
const CHECKSUM_BYTES = 68;

/** How programs are started, and how the modules are loaded that `main` begins with. */
type Bundle = Readonly<Partial<Record<'main' | 'rebuild' | 'token' | 'platform' | 'service', () => Promise<unknown>>>>;

type Evaluate = (exports: Bundle, require: NodeJS.Require, module: object, filename: string) => void;

export function bundle(): Bundle {
  return evaluated(compiled(read()));
}

/** Keeps what V8 makes of the code until a service can start. */
export async function keepCode(): Promise<void> {
  const source = read();
  const script = compiled(source);
  const { platform, service } = evaluated(script);
  await platform?.();
  await service?.();
  const draft = `${CODE_FILE}.${process.pid}`;
  writeFileSync(draft, Buffer.concat([script.createCachedData(), checksumOf(source)]));
  renameSync(draft, CODE_FILE);
}

const read = (): Buffer => readFileSync(FILE);
const checksumOf = (source: Buffer): Buffer => source.subarray(0, CHECKSUM_BYTES);

function compiled(source: Buffer): Script {
  return new Script(source.toString('latin1'), {
    filename: FILE,
    cachedData: keptCode(source),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

function evaluated(script: Script): Bundle {
  if (process.sourceMapsEnabled) nameSources();
  const module = { exports: {} };
  (script.runInThisContext() as Evaluate)(module.exports, createRequire(FILE), module, FILE);
  return module.exports;
}

function keptCode(source: Buffer): Buffer | undefined {
  try {
    const code = readFileSync(CODE_FILE);
    const isOfSource = code.subarray(-CHECKSUM_BYTES).equals(checksumOf(source));
    return isOfSource ? code.subarray(0, -CHECKSUM_BYTES) : undefined;
  } catch {
    return undefined;
  }
}

/** Stack traces name sources, as Node has it where it loads the code itself. The map is read when the first trace is. */
function nameSources(): void {
  let map: SourceMap | undefined;
  const named = (site: NodeJS.CallSite & { toString(): string }): string => {
    const [file, line, column] = [site.getFileName() ?? '', site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0];
    const text = site.toString();
    // Kept code names the place where it was compiled.
    if (basename(file) !== basename(FILE)) return text;
    map ??= new SourceMap(JSON.parse(readFileSync(`${FILE}.map`, 'utf8')) as SourceMapPayload);
    const origin = map.findOrigin(line, column);
    // The map does not know the lines of packages.
    if (!('fileName' in origin) || !origin.fileName || origin.fileName.includes('/node_modules/')) return text;
    const source = resolve(dirname(FILE), origin.fileName);
    return text.replace(`${file}:${line}:${column}`, `${source}:${origin.lineNumber}:${origin.columnNumber}`);
  };
  Error.prepareStackTrace = (error, trace) =>
    [Error.prototype.toString.call(error), ...trace.map((site) => `    at ${named(site)}`)].join('\n');
}
