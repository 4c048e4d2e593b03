import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

type Engines = Readonly<{ node?: string }>;
type Package = Readonly<{ version: string; dev?: boolean; hasInstallScript?: boolean; engines?: Engines | readonly string[] }>;

const root = new URL('../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, root), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  engines: Required<Engines>;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Package> };

const COMPARATOR = /^(>=|>|<=|<|\^|~|=)?v?(\d+|\*)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?$/;

/** Whether a version range, in the format of `engines`, includes a version. */
function isIn(range: string, version: readonly number[]): boolean {
  const bare = range.replaceAll(/(>=|>|<=|<|\^|~|=)\s+/g, '$1');
  return bare.split('||').some((all) =>
    all
      .trim()
      .split(/\s+/)
      .every((each) => holds(each, version)),
  );
}

function holds(comparator: string, version: readonly number[]): boolean {
  const parts = COMPARATOR.exec(comparator);
  if (!parts) throw new Error(`There is no such range of versions: ${comparator}`);
  const [, operator = '', ...given] = parts;
  const known = given.filter((part) => part !== undefined && /^\d+$/.test(part)).map(Number);
  const difference = known.map((part, index) => version[index]! - part).find((each) => each !== 0) ?? 0;
  if (operator === '^' || operator === '~') return difference >= 0 && (known.length === 0 || version[0] === known[0]);
  if (operator === '>=') return difference >= 0;
  if (operator === '>') return difference > 0;
  if (operator === '<=') return difference <= 0;
  if (operator === '<') return difference < 0;
  return difference === 0;
}

/** The oldest version of Node that this program supports. */
const OLDEST = manifest.engines.node.replace('>=', '').split('.').map(Number);

/**
 * Packages that require a newer version, and why they are accepted (docs/decisions/016-packages-for-a-newer-node.md). All of them
 * belong to `nest build`, which works on the oldest version too and is in no image.
 */
const NEWER = [
  '@angular-devkit/core',
  '@angular-devkit/schematics',
  '@angular-devkit/schematics-cli',
  '@nestjs/cli/node_modules/commander',
  '@nestjs/schematics',
];

describe('the installed packages', () => {
  it('with a script of their own are each allowed to run it, or not', () => {
    const withScripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = withScripts.map(([path]) => path.replace(/^.*node_modules\//, '')).filter((name) => name !== '');
    expect(Object.keys(manifest.allowScripts).sort()).toEqual([...new Set(names)].sort());
  });

  it('run on the oldest supported version of Node, except those named here', () => {
    const newer = Object.entries(packages).flatMap(([path, { engines }]) => {
      const range = engines && 'node' in engines ? engines.node : undefined;
      return range === undefined || isIn(range, OLDEST) ? [] : [path.replace('node_modules/', '')];
    });
    expect(newer).toEqual(NEWER);
  });

  it('include none of the exceptions in production', () => {
    for (const name of NEWER) expect(packages[`node_modules/${name}`]).toMatchObject({ dev: true });
  });

  it.each([
    ['>= 22.x', false],
    ['>=22', false],
    ['^22.22.2 || >=24.15.0', false],
    ['^20.19.0 || >=22.12.0', true],
    ['>=20.19.1', false],
    ['18 || 20 || >=22', true],
    ['>=16 || 14 >=14.17', true],
    ['10.* || >= 12.*', true],
    ['*', true],
  ])('version ranges are read like npm does: %s', (range, has) => expect(isIn(range, [20, 19, 0])).toBe(has));
});

describe('patches of packages', () => {
  const patches = readdirSync(new URL('patches/', root));

  it('match the installed versions, which are pinned', () => {
    expect(patches).toContain(`postgres+${manifest.dependencies['postgres']}.patch`);
    for (const patch of patches) {
      const [name, version] = patch.replace(/\.patch$/, '').split('+');
      expect([patch, packages[`node_modules/${name}`]!.version, manifest.dependencies[name!]]).toEqual([patch, version, version]);
    }
  });

  it('are applied by every installation, and before a start if scripts were skipped', () => {
    expect(packages['node_modules/patch-package']).toMatchObject({ version: manifest.dependencies['patch-package'] });
    expect(packages['node_modules/patch-package']!.dev).toBeUndefined();
    const apply = 'patch-package --error-on-fail --error-on-warn';
    expect(manifest.scripts['postinstall']).toBe(apply);
    // The build applies them if they are missing: test/build.int.spec.ts.
    expect(manifest.scripts['start']).toMatch(/^node (--\S+ )*build\.js --run main$/);
  });

  it('are in the image before its packages are installed', () => {
    const steps = read('Dockerfile').split('\n');
    expect(steps.indexOf('COPY patches patches')).toBeGreaterThan(0);
    expect(steps.indexOf('COPY patches patches')).toBeLessThan(steps.indexOf('RUN npm ci'));
    expect(read('.dockerignore')).not.toContain('patches');
  });
});

it('starts each program with the options of V8 with which the build has stored its compiled code', () => {
  const texts = [...Object.values(manifest.scripts), read('Dockerfile').replaceAll(/[[\]",]/g, ''), read('docs/operations.md')];
  const commands = texts
    .flatMap((text) => [...text.matchAll(/node ((?:--\S+ )*)(build\.js|dist\/program\/\w+\.js)/g)])
    .map(([, options, file]) => ({ file, options: options!.replace('--enable-source-maps ', '') }));
  expect(commands.map(({ file }) => file)).toEqual(expect.arrayContaining(['build.js', 'dist/program/main.js']));
  expect(new Set(commands.map(({ options }) => options)).size).toBe(1);
});
