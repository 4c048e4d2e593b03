import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..');
const RECIPE = ['build.js', '.swcrc', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json'];

const SOURCES = {
  'package.json': '{"type":"module"}',
  'README.md': 'What it is.',
  'docs/first-steps.md': 'How it starts.',
  'docs/openapi.json': '{"openapi":"3.0.0"}',
  'docs/decisions/001.md': 'Why it is so.',
  'src/amount.ts': 'export type Amount = number;',
  'src/invoice.dto.ts': "import type { Amount } from './amount.js';\nexport class Invoice {\n  readonly total!: Amount;\n}",
  'src/greeting.ts': "export const greeting: string = 'good day';",
  'src/greeting.spec.ts': '',
  // The program reads a file that is stored beside one of its modules.
  'src/beside.ts':
    "import { readFileSync } from 'node:fs';\nexport const table = readFileSync(new URL('../projections/invoices.sql', import.meta.url), 'utf8');",
  'src/app/bundle.ts': readFileSync(join(ROOT, 'src/app/bundle.ts'), 'utf8'),
  'src/app/service.ts': "export { greeting } from '../greeting.js';",
  'src/app/main.ts':
    "import { greeting } from '../greeting.js';\nimport { table } from '../beside.js';\nif (process.argv[2]) throw new Error(process.argv[2]);\n" +
    "void import('./later.js').then(({ Later }) => console.log(greeting, table, Later.name, /[^µ’]+/.exec('5µ')![0]));",
  'src/app/later.ts': 'export class Later {}',
  'projections/invoices.sql': 'create table invoices ();',
};

/** A program that waits in vain for a file is ended. `spawnSync` keeps the test's own time limit from ending it. */
const RUN_MS_MAX = 60_000;

/** A minimal project, built once like this one: a DTO with a type of another file, a file of its own, an asset. */
let original: string;
let project: string;

beforeAll(() => {
  original = project = mkdtempSync(join(tmpdir(), 'verbatim-build-'));
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  for (const file of RECIPE) copyFileSync(join(ROOT, file), join(project, file));
  const settings = JSON.parse(read('tsconfig.json')) as { compilerOptions: object };
  write('tsconfig.json', JSON.stringify({ ...settings, compilerOptions: { ...settings.compilerOptions, types: [] } }));
  for (const [file, text] of Object.entries(SOURCES)) write(file, text);
  built();
});

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'verbatim-build-'));
  cpSync(original, project, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
});

afterEach(() => rmSync(project, { recursive: true, force: true }));
afterAll(() => rmSync(original, { recursive: true, force: true }));

const path = (file: string) => join(project, file);
const read = (file: string) => readFileSync(path(file), 'utf8');
const write = (file: string, text: string) => {
  mkdirSync(dirname(path(file)), { recursive: true });
  writeFileSync(path(file), text);
};
const exists = (file: string) => statSync(path(file), { throwIfNoEntry: false }) !== undefined;
/** The time of the build that wrote it. */
const writtenBy = (file: string) => statSync(path(file)).mtimeMs;

const build = () => spawnSync(process.execPath, ['build.js'], { cwd: project, encoding: 'utf8' });
const built = () => {
  const { status, stderr } = build();
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('rror') });
};
const started = () => spawnSync(process.execPath, ['dist/program/main.js'], { cwd: project, encoding: 'utf8' }).stdout.trim();
/** V8's version of compiled code in a new process with these options. This process may have been given flags since it was started. */
const codeVersion = (...options: string[]) =>
  spawnSync(process.execPath, [...options, '-p', 'v8.cachedDataVersionTag()'], { encoding: 'utf8' }).stdout.trim();
/** Lets a program end when files are there. */
const waitingFor = (...files: string[]) =>
  `
import { existsSync } from 'node:fs';
const timer = setInterval(() => {
  if (!${JSON.stringify(files)}.every((file) => existsSync(file))) return;
  clearInterval(timer);
  console.log('both are there');
}, 20);`;
const OUTPUTS = ['dist/src/invoice.dto.js', 'dist/src/greeting.js', 'dist/projections/invoices.sql'] as const;
const writers = () => OUTPUTS.map(writtenBy);

it('compiles the whole program with source maps, and copies the files that it reads at run time', () => {
  const [, code, map] =
    /^(.*\n)\/\/# sourceMappingURL=data:application\/json;base64,(.+)\n?$/s.exec(read('dist/src/greeting.js')) ?? [];
  expect(code).toBe("export const greeting = 'good day';\n\n");
  expect(JSON.parse(Buffer.from(map!, 'base64').toString())).toMatchObject({ sources: ['../../src/greeting.ts'] });
  expect(read('dist/projections/invoices.sql')).toBe('create table invoices ();');
  expect(read('dist/README.md')).toBe('What it is.');
  expect(read('dist/docs/first-steps.md')).toBe('How it starts.');
  expect(read('dist/docs/openapi.json')).toBe('{"openapi":"3.0.0"}');
  expect(exists('dist/docs/decisions/001.md')).toBe(false);
  expect(exists('dist/src/greeting.spec.js')).toBe(false);
});

it('compiles only what has changed', () => {
  const first = writers();
  built();
  expect(writers()).toEqual(first);
  write('src/greeting.ts', "export const greeting: string = 'good night';");
  built();
  expect(read('dist/src/greeting.js')).toContain('good night');
  expect(writers()).toEqual([first[0], writtenBy('dist/src/greeting.js'), first[2]]);
});

it('bundles the programs, which find their files and keep the names of their classes', () => {
  expect(started()).toBe('good day create table invoices (); Later 5');
  const { sections } = JSON.parse(read('dist/program/bundle.cjs.map')) as { sections: { map: { sources: string[] } }[] };
  expect(sections.map(({ map }) => map.sources)).toContainEqual(['../../src/greeting.ts']);
});

it('bundles again when a module has changed, leaves no old part, and does nothing otherwise', () => {
  const parts = (): string[] => readdirSync(path('dist/program')).sort();
  const [first, firstParts] = [writtenBy('dist/program/main.js'), parts()];
  built();
  expect(writtenBy('dist/program/main.js')).toBe(first);
  write('src/app/later.ts', 'export class Later {}\nexport const hour = 3;');
  built();
  expect(writtenBy('dist/program/main.js')).not.toBe(first);
  expect(started()).toBe('good day create table invoices (); Later 5');
  expect(parts()).toHaveLength(firstParts.length);
  rmSync(path('dist/program/main.js'));
  built();
  expect(started()).toBe('good day create table invoices (); Later 5');
});

it('stores V8’s code of the bundle, starts from it, and creates it again for another V8', () => {
  const kept = () => readdirSync(path('dist/program')).find((name) => /^bundle\.cjs\.\d+$/.test(name));
  const file = path(join('dist/program', kept()!));
  const bundle = read('dist/program/bundle.cjs');
  // A forged bundle with the same length and hash is treated as the compiled one.
  const forged = bundle.replaceAll('good day', 'bad! day');
  write('dist/program/bundle.cjs', forged);
  expect(started()).toContain('good day');
  write('dist/program/bundle.cjs', forged.replace(bundle.slice(2, 66), '0'.repeat(64)));
  expect(started()).toContain('bad! day');
  write('dist/program/bundle.cjs', forged);
  renameSync(file, file.replace(/\d+$/, '1'));
  expect(started()).toContain('bad! day');
  const first = writtenBy('dist/program/bundle.cjs');
  built();
  expect(statSync(file).size).toBeGreaterThan(0);
  expect(writtenBy('dist/program/bundle.cjs')).toBe(first);
});

it('stores V8’s code for the options of Node with which it runs', () => {
  const options = ['--max-semi-space-size=32'];
  spawnSync(process.execPath, [...options, 'build.js'], { cwd: project });
  expect(exists(`dist/program/bundle.cjs.${codeVersion(...options)}`)).toBe(true);
});

it('builds what has changed, then runs a program with its arguments', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['build.js', '--run', ...args], { cwd: project, encoding: 'utf8' });
  write('src/greeting.ts', read('src/greeting.ts').replace('good', 'bright'));
  const [first, second] = [run('main'), run('main')];
  expect([first.stdout, second.stdout]).toEqual([first.stdout, first.stdout]);
  expect(first.stdout).toContain('bright');
  expect([first.stderr, second.stderr]).toEqual([expect.stringMatching(/^Compiled \d+ files? /), '']);
  expect(run('main', 'Out of order')).toMatchObject({ status: 1, stderr: expect.stringContaining('Error: Out of order') });
  write('src/greeting.ts', 'export const = ;');
  expect(run('main')).toMatchObject({ status: 2, stdout: '' });
});

it('runs a program from its compiled files until it is bundled, and bundles it meanwhile', () => {
  const options = { cwd: project, encoding: 'utf8', timeout: RUN_MS_MAX } as const;
  const run = () => spawnSync(process.execPath, ['build.js', '--run', 'main'], options);
  const bundledBy = writtenBy('dist/program/bundle.cjs');
  write('src/greeting.ts', "export const greeting: string = 'good night';");
  // The program ends at once, and ends the build with it.
  expect(run().stdout).toContain('good night');
  expect(writtenBy('dist/program/bundle.cjs')).toBe(bundledBy);
  write('build.js', read('build.js').replace(/(FINISH_AFTER_MS =) 10_000/, '$1 0'));
  const parts = ['dist/program/bundle.cjs.map', `dist/program/bundle.cjs.${codeVersion()}`];
  rmSync(path('dist/program'), { recursive: true });
  write('src/app/main.ts', read('src/app/main.ts') + waitingFor(...parts));
  expect(run().stdout).toContain('both are there');
  expect(read('dist/program/bundle.cjs')).toContain('good night');
  write('dist/program/bundle.cjs', read('dist/program/bundle.cjs').replace('good night', 'good dawn!'));
  rmSync(path(parts[1]!));
  expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('good dawn!'), stderr: '' });
});

it('finishes a build that was not finished', () => {
  const [map] = [read('dist/program/bundle.cjs.map'), rmSync(path('dist/program/bundle.cjs.map'))];
  built();
  expect(read('dist/program/bundle.cjs.map')).toBe(map);
  // A map that another build has made of an older bundle.
  write('dist/program/bundle.cjs.map', '{}');
  utimesSync(path('dist/program/bundle.cjs.map'), 1, 1);
  built();
  expect(read('dist/program/bundle.cjs.map')).toBe(map);
});

it('names sources in stack traces if Node is told to', () => {
  const failed = (...flags: string[]) =>
    spawnSync(process.execPath, [...flags, 'dist/program/main.js', 'Out of order'], { cwd: project, encoding: 'utf8' }).stderr;
  expect(failed('--enable-source-maps')).toMatch(/Error: Out of order\n    at .*\/src\/app\/main\.ts:3:\d+\)?\n/);
  const ofBundle = /Error: Out of order\n    at .*\/dist\/program\/bundle\.cjs:\d+:\d+\)?\n/;
  expect(failed()).toMatch(ofBundle);
  // Until the map is made.
  rmSync(path('dist/program/bundle.cjs.map'));
  expect(failed('--enable-source-maps')).toMatch(ofBundle);
});

it('recreates deleted outputs, and removes those without a source', () => {
  for (const output of OUTPUTS) rmSync(path(output));
  rmSync(path('src/amount.ts'));
  write('src/invoice.dto.ts', 'export class Invoice {\n  readonly total!: string;\n}');
  built();
  expect(OUTPUTS.filter((output) => !exists(output))).toEqual([]);
  expect(['dist/src/amount.js', 'dist/src/amount.js.map'].filter(exists)).toEqual([]);
  rmSync(path('dist'), { recursive: true });
  built();
  expect(OUTPUTS.filter((output) => !exists(output))).toEqual([]);
});

it('compiles everything again when the toolchain has changed', () => {
  const first = writers();
  write('package-lock.json', '{ "lockfileVersion": 3 }');
  built();
  expect(writers().filter((each) => first.includes(each))).toEqual([]);
});

it.each(['src/greeting.ts', 'src/invoice.dto.ts'])('fails on %s if it cannot be parsed, and succeeds once it can', (file) => {
  const text = read(file);
  write(file, `${text}\nexport const = ;`);
  const { status, stderr } = build();
  expect(status).not.toBe(0);
  expect(stderr).toContain(file);
  write(file, text);
  built();
  expect(OUTPUTS.filter((output) => !exists(output))).toEqual([]);
});

it('patches packages once after each installation, and when a patch has changed', () => {
  const bare = mkdtempSync(join(tmpdir(), 'verbatim-build-'));
  const inBare = (file: string) => join(bare, file);
  const patched = () => readFileSync(inBare('patched.txt'), 'utf8');
  const install = () => writeFileSync(inBare('node_modules/.package-lock.json'), '{}');
  const patch = () => writeFileSync(inBare('patches/some+1.0.0.patch'), '');
  try {
    for (const folder of ['patches', 'node_modules/patch-package']) mkdirSync(inBare(folder), { recursive: true });
    copyFileSync(join(ROOT, 'build.js'), inBare('build.js'));
    for (const file of ['README.md', 'patched.txt']) writeFileSync(inBare(file), '');
    writeFileSync(inBare('package.json'), '{"type":"module"}');
    writeFileSync(
      inBare('node_modules/patch-package/index.js'),
      "import { appendFileSync } from 'node:fs';\nappendFileSync('patched.txt', 'once ');",
    );
    patch();
    install();
    const built = () => spawnSync(process.execPath, ['build.js'], { cwd: bare, encoding: 'utf8' });
    const run = () => built().status;
    expect([run(), run(), patched()]).toEqual([0, 0, 'once ']);
    install();
    expect([run(), run(), patched()]).toEqual([0, 0, 'once once ']);
    patch();
    expect([run(), run(), patched()]).toEqual([0, 0, 'once once once ']);
    writeFileSync(inBare('node_modules/patch-package/index.js'), "console.log('It does not fit.');\nprocess.exit(1);");
    install();
    expect([run(), run()]).toEqual([1, 1]);
    expect(built().stderr).toMatch(/It does not fit\.[^]*run npm ci/);
  } finally {
    rmSync(bare, { recursive: true, force: true });
  }
});
