import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { outputOfCheck } from './check-output.js';
import { oncePerState } from './once-per-state.js';

const ROOT = join(import.meta.dirname, '../..');
const OXLINT = join(ROOT, 'node_modules/oxlint/bin/oxlint');
/** What the configuration consists of. */
const CONFIGURATION = ['tsconfig.json', '.oxlintrc.jsonc', 'test/architecture/type-imports.mjs'];

/** It takes a second or two of CPU time, which other suites use too. */
export const LINTED_MS_MAX = 600_000;

/** A report of the linter. The rule has the name that it has in the configuration, or is the number of an error of TypeScript. */
export type Finding = Readonly<{ rule: string; message: string }>;

type Diagnostic = Readonly<{ filename: string; code?: string; message: string; help?: string }>;

/**
 * What the linter reports on texts as files of a small repository with this configuration. The texts are those of a suite, so it
 * runs again only if the suite, the texts, the configuration or the installed packages changed.
 */
export async function linted(
  suite: string,
  files: Readonly<Record<string, string>>,
): Promise<(file: string) => readonly Finding[]> {
  const inputs = [...CONFIGURATION.map((name) => join(ROOT, name)), import.meta.filename, suite];
  const report = await oncePerState(`lint-${basename(suite)}`, [...inputs, { value: files }], () => lint(files));
  const diagnostics = JSON.parse(report) as readonly Diagnostic[];
  return (file) => {
    if (!(file in files)) throw new Error(`${file} was not linted.`);
    return diagnostics.filter(({ filename }) => filename === file).map(findingOf);
  };
}

/** Runs the linter once on texts as files, and returns its diagnostics. */
async function lint(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'linted-'));
  try {
    for (const name of CONFIGURATION) cpSync(join(ROOT, name), join(folder, name));
    for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), `${text}\n`);
    }
    const report = await oxlint(folder, '--format', 'json', 'src', 'projections', 'test');
    return JSON.stringify((JSON.parse(report) as { diagnostics: readonly Diagnostic[] }).diagnostics);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The names of all rules that are enabled for some files. */
export async function enabledRules(): Promise<readonly string[]> {
  type Rules = Readonly<Record<string, string | readonly unknown[]>>;
  const { rules, overrides } = JSON.parse(await oxlint(ROOT, '--print-config')) as {
    rules: Rules;
    overrides: readonly { rules: Rules }[];
  };
  const enabled = [rules, ...overrides.map((each) => each.rules)].flatMap(Object.entries);
  return [...new Set(enabled.filter(([, severity]) => severity !== 'allow').map(([name]) => name))];
}

function findingOf({ code = '', message, help = '' }: Diagnostic): Finding {
  const [, plugin, name] = /^([\w-]+)\(([\w-]+)\)$/.exec(code) ?? [];
  const rule = plugin === 'eslint' || name?.startsWith('TS') ? name : `${plugin}/${name}`;
  return { rule: rule ?? '', message: `${message} ${help}` };
}

const oxlint = (folder: string, ...args: string[]): Promise<string> => outputOfCheck([OXLINT, ...args], folder);
