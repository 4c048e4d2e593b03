import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { outputOfCheck } from '../support/check-output.js';
import { oncePerState } from '../support/once-per-state.js';

const HERE = import.meta.dirname;
const KNIP = join(HERE, '../../node_modules/knip/bin/knip.js');

/** A small service with unused code. A check that no longer looks at something finds as little as one with nothing to find. */
const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'probe', type: 'module', dependencies: { postgres: '1.0.0' } }),
  'src/app/main.ts': "import { used } from '../feature.js';\nconsole.log(used);",
  'src/feature.ts': `export const used = 1;
export const MAX = 2;
export const useless = MAX;
export const forTests = 3;
export type Shown = string;`,
  'src/feature.spec.ts': "import { forTests, MAX } from './feature.js';\nconsole.log(forTests, MAX);",
  'src/feature.events.ts': 'export type Happened = string;\nexport const happened = 1;',
  'src/spoken.spec.ts': "import { happened } from './feature.events.js';\nconsole.log(happened);",
  'projections/lonely.ts': 'export const lonely = 1;',
};

let probe: string;
beforeAll(async () => {
  probe = await mkdtemp(join(tmpdir(), 'unused-'));
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(probe, name)), { recursive: true });
    await writeFile(join(probe, name), text);
  }
});
afterAll(() => rm(probe, { recursive: true }));

type Issue = Readonly<{ file: string } & Record<'files' | 'exports' | 'types' | 'dependencies', readonly { name: string }[]>>;

/** The findings of a configuration, each as `kind name`. */
async function foundBy(config: string, ...options: string[]): Promise<readonly string[]> {
  const args = [KNIP, '--directory', probe, '--config', join(HERE, config), '--reporter', 'json', '--no-progress', ...options];
  const inputs = [join(HERE, config), import.meta.filename, { value: options }];
  const issuesIn = (report: string) => (JSON.parse(report) as { issues: readonly Issue[] }).issues;
  const run = async () => JSON.stringify(issuesIn(await outputOfCheck(args, probe)));
  const issues = JSON.parse(await oncePerState(`unused-${config}`, inputs, run)) as readonly Issue[];
  const kinds = ['files', 'exports', 'types', 'dependencies'] as const;
  const found = issues.flatMap((issue) => kinds.flatMap((kind) => (issue[kind] ?? []).map(({ name }) => `${kind} ${name}`)));
  return found.sort();
}

it('unused exports and files are found, except events, which a feature may declare without using them', async () => {
  expect(await foundBy('knip.json')).toEqual([
    'dependencies postgres',
    'exports useless',
    'files projections/lonely.ts',
    'types Shown',
  ]);
});

it('exports that only tests use are found, except limits that their own file uses', async () => {
  expect(await foundBy('knip.production.json', '--production', '--include', 'files,exports,types')).toEqual([
    'exports forTests',
    'exports useless',
    'files projections/lonely.ts',
    'files src/feature.events.ts',
    'types Shown',
  ]);
});
