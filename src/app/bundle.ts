import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap, type SourceMapPayload } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';

/** The bundle that `build.js` makes of all programs and their packages: an expression whose value is a function. */
const FILE = fileURLToPath(new URL('../../program/bundle.cjs', import.meta.url));
/** V8's compiled code of the bundle. V8 rejects it in another version or with other flags. */
const CODE_FILE = `${FILE}.${cachedDataVersionTag()}`;
/** The length of the checksum comment at the start of the bundle. The compiled code ends with the same checksum. */
const CHECKSUM_BYTES = 68;

/** Functions that start the programs, and that load the modules that `main` needs first. */
type Bundle = Readonly<Partial<Record<'main' | 'rebuild' | 'token' | 'platform' | 'service', () => Promise<unknown>>>>;

type Evaluate = (exports: Bundle, require: NodeJS.Require, module: object, filename: string) => void;

export function bundle(): Bundle {
  return evaluated(compiled(read()));
}

/** Loads the modules of a service and stores the code that V8 has compiled for them. */
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

/** Makes stack traces name source files, as Node does for modules. The source map is read with the first stack trace. */
function nameSources(): void {
  let map: SourceMap | undefined;
  const named = (site: NodeJS.CallSite & { toString(): string }): string => {
    const [file, line, column] = [site.getFileName() ?? '', site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0];
    const text = site.toString();
    // Stored code names the path at which it was compiled.
    if (basename(file) !== basename(FILE)) return text;
    map ??= new SourceMap(JSON.parse(readFileSync(`${FILE}.map`, 'utf8')) as SourceMapPayload);
    const origin = map.findOrigin(line, column);
    // The map has no lines of packages.
    if (!('fileName' in origin) || !origin.fileName || origin.fileName.includes('/node_modules/')) return text;
    const source = resolve(dirname(FILE), origin.fileName);
    return text.replace(`${file}:${line}:${column}`, `${source}:${origin.lineNumber}:${origin.columnNumber}`);
  };
  Error.prepareStackTrace = (error, trace) =>
    [Error.prototype.toString.call(error), ...trace.map((site) => `    at ${named(site)}`)].join('\n');
}
