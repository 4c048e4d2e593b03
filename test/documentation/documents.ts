import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['docs', 'src', 'projections', 'test'];

/** A page of the documentation: its path from the root, and its text. */
export type Page = Readonly<{ path: string; text: string }>;

/** Every page of the project's documentation. */
export function pages(): readonly Page[] {
  const own = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const others = FOLDERS.flatMap((folder) => filesUnder(folder).filter((file) => file.endsWith('.md')));
  return [...own, ...others].sort().map(page);
}

export const page = (path: string): Page => ({ path, text: readFileSync(join(ROOT, path), 'utf8') });

const filesUnder = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));

/** A text without its code blocks. */
const prose = (text: string): string => text.replaceAll(/^ *```[^]*?^ *```$/gm, '');

/** The inline code of a page. */
const codeOf = ({ text }: Page): readonly string[] => [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);

/** Expands `a/{b,c}.ts` to two files. */
function expanded(path: string): readonly string[] {
  const [whole, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  return whole === undefined ? [path] : choices!.split(',').flatMap((choice) => expanded(before! + choice.trim() + after!));
}

/**
 * Paths in inline code. Files at the root are recognised by their extension. Other names without a folder may be in any folder.
 */
const PATH =
  /^(?:src|projections|test|docs|\.ci)\/[\w./{},-]+$|^\.env\.example$|^Dockerfile$|^(?:docker-compose[\w.-]*\.yml|[\w-]+\.config\.js|package\.json)$/;

/** The paths that a page names and that do not exist. */
export const lostPaths = (page: Page): readonly string[] =>
  codeOf(page)
    .filter((code) => PATH.test(code))
    .flatMap(expanded)
    .filter((path) => !existsSync(join(ROOT, path)));

/** The links of a page to files or headings that do not exist. */
export function lostLinks(page: Page): readonly string[] {
  const links = [...prose(page.text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(page, link));
}

function leadsSomewhere(page: Page, link: string): boolean {
  const [file, heading] = link.split('#');
  const target = join(ROOT, dirname(page.path), file!);
  if (!existsSync(target)) return false;
  if (heading === undefined) return true;
  return headingsOf(file === '' ? page.text : readFileSync(target, 'utf8')).includes(heading);
}

const headingsOf = (text: string): readonly string[] =>
  [...prose(text).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** The scripts of `package.json` that a page names and that do not exist. */
export function lostScripts({ text }: Page): readonly string[] {
  const { scripts } = JSON.parse(page('package.json').text) as { scripts: Record<string, string> };
  const run = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => script!);
  return run.filter((script) => !Object.hasOwn(scripts, script));
}

/** Variables that are not settings of the service: those of examples, infrastructure, npm, Node and tests. */
const FOREIGN = /^(?:VERBATIM|EVENTSTORE|NODE|TEST|SIMULATION)_|^(?:PATH|CI|KILLS)$/;

/** The settings that a page names and that `.env.example` does not have. */
export function lostSettings(given: Page): readonly string[] {
  const known = page('.env.example').text;
  const named = codeOf(given).flatMap((code) =>
    [...code.matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g)].map(([, name]) => name!),
  );
  return named.filter((name) => !FOREIGN.test(name) && !new RegExp(`^#${name}=`, 'm').test(known) && !constants().has(name));
}

/** The metrics that a page names and that the service does not have. */
export function lostMetrics({ text }: Page): readonly string[] {
  const own = page('src/platform/telemetry/prometheus-measurements.ts').text;
  const named = [...text.matchAll(/\bverbatim_\w+/g)].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, ''));
  return named.filter((name) => !own.includes(`'${name}'`));
}

/** Names of external APIs. */
const FOREIGN_NAMES: ReadonlySet<string> = new Set(['BatchAppend']);

/** The names of events, classes and types in inline code that the sources do not contain. */
export const lostNames = (page: Page): readonly string[] =>
  codeOf(page).filter((code) => /^(?:[A-Z][a-z0-9]+){2,}$/.test(code) && !FOREIGN_NAMES.has(code) && !words().has(code));

let sources: string | undefined;
const sourceText = (): string =>
  (sources ??= ['src', 'projections', 'test']
    .flatMap(filesUnder)
    .filter((file) => /\.(?:ts|js)$/.test(file) && relative('test/documentation', file).startsWith('..'))
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n'));

let known: ReadonlySet<string> | undefined;
const words = (): ReadonlySet<string> => (known ??= new Set(sourceText().match(/\b[A-Z][A-Za-z0-9]+\b/g)));

let upper: ReadonlySet<string> | undefined;
const constants = (): ReadonlySet<string> => (upper ??= new Set(sourceText().match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g)));
