import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
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
  // Another build may have replaced the bundle meanwhile.
  if (!read().equals(source)) return;
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

/** The source map of one module in the bundle. `offset`: where the module begins, from 0. */
type Section = Readonly<{ offset: { line: number; column: number }; map: SourceMapPayload }>;

/** The source map of the bundle, which is finished after the first program has started. */
function readSections(): readonly Section[] | undefined {
  const file = `${FILE}.map`;
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { sections: readonly Section[] }).sections;
}

/**
 * Makes stack traces name source files, as Node does for modules. The source map of the bundle is read with the first stack trace,
 * and the map of a module is decoded with the first stack trace that names it.
 */
function nameSources(): void {
  let sections: readonly Section[] | undefined;
  const maps = new Map<Section, SourceMap>();
  const originOf = (line: number, column: number) => {
    sections ??= readSections();
    const section = sections?.findLast(
      ({ offset }) => offset.line < line - 1 || (offset.line === line - 1 && offset.column < column),
    );
    if (!section) return undefined;
    const { offset } = section;
    const map = maps.get(section) ?? new SourceMap(section.map);
    maps.set(section, map);
    const origin = map.findOrigin(line - offset.line, offset.line === line - 1 ? column - offset.column : column);
    return 'fileName' in origin && origin.fileName ? origin : undefined;
  };
  const named = (site: NodeJS.CallSite & { toString(): string }): string => {
    const [file, line, column] = [site.getFileName() ?? '', site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0];
    const text = site.toString();
    // Stored code names the path at which it was compiled.
    const origin = basename(file) === basename(FILE) ? originOf(line, column) : undefined;
    // The map has no lines of packages.
    if (!origin) return text;
    const source = resolve(dirname(FILE), origin.fileName);
    return text.replace(`${file}:${line}:${column}`, `${source}:${origin.lineNumber}:${origin.columnNumber}`);
  };
  Error.prepareStackTrace = (error, trace) =>
    [Error.prototype.toString.call(error), ...trace.map((site) => `    at ${named(site)}`)].join('\n');
}
