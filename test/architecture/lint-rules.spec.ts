import { beforeAll, expect, it } from '@jest/globals';
import { enabledRules, type Finding, linted, LINTED_MS_MAX } from '../support/lint.js';

/** A rule that no longer matches looks like clean code, so each rule is tested with code that breaks it. */
const broken: readonly [rule: string, code: string][] = [
  ['TS2322', 'export const text: string = 1;'],
  ['TS2307', "export * from './nowhere.js';"],
  ['TS2578', '// @ts-expect-error -- nothing is wrong\nexport const one = 1;'],
  ['typescript/await-thenable', 'export const one = async () => await 1;'],
  ['typescript/no-array-delete', 'export const drop = (list: number[]) => {\n  delete list[0];\n};'],
  ['typescript/no-base-to-string', 'export const text = (fields: { one: 1 }) => String(fields);'],
  ['typescript/no-duplicate-type-constituents', 'export type Text = string | string;'],
  ['typescript/no-floating-promises', 'Promise.resolve(1);'],
  ['typescript/no-for-in-array', 'for (const place in [1, 2]) console.log(place);'],
  ['typescript/no-implied-eval', "setTimeout('1', 1);"],
  ['typescript/no-misused-promises', '[1].forEach(async () => undefined);'],
  ['typescript/no-redundant-type-constituents', 'export type Anything = unknown | string;'],
  ['typescript/no-unnecessary-type-assertion', 'export const same = (text: string) => text as string;'],
  ['typescript/no-unsafe-argument', 'export const read = (text: any) => parseInt(text);'],
  ['typescript/no-unsafe-assignment', "export const value = JSON.parse('1');"],
  ['typescript/no-unsafe-call', 'export const call = (run: any) => void run();'],
  ['typescript/no-unsafe-enum-comparison', 'enum Size {\n  Small = 1,\n}\nexport const isSmall = (size: Size) => size === 1;'],
  ['typescript/no-unsafe-member-access', 'export const look = (fields: any) => void fields.one;'],
  ['typescript/no-unsafe-return', 'export const pass = (value: any) => value;'],
  ['typescript/no-unsafe-unary-minus', 'export const less = (value: string) => -value;'],
  ['typescript/only-throw-error', "export const fail = () => {\n  throw 'a text';\n};"],
  ['typescript/prefer-promise-reject-errors', "export const failed = () => Promise.reject('a text');"],
  ['typescript/restrict-plus-operands', 'export const sum = (fields: { one: 1 }) => 1n + (fields as never as number);'],
  ['typescript/restrict-template-expressions', 'export const text = (fields: { one: 1 }) => `${fields}`;'],
  ['typescript/unbound-method', 'class One {\n  run() {}\n}\nexport const { run } = new One();'],
  ['eslint-js/no-restricted-imports', "import { newId } from './ids.js';"],
  ['eslint-js/no-restricted-syntax', 'export const at = new Date();'],
  [
    'eslint-js/no-unused-vars',
    'export const count = (all: number[]) => {\n  let sum = 0;\n  all.forEach((each) => {\n    sum += each;\n  });\n};',
  ],
  ['no-array-constructor', 'export const two = new Array(1, 2);'],
  ['no-restricted-globals', 'setTimeout(() => undefined, 1);'],
  ['no-restricted-imports', "import 'node:timers';"],
  ['no-restricted-properties', 'export const at = Date.now();'],
  ['no-unused-expressions', 'export const same = (text: string) => {\n  text;\n};'],
  ['no-unused-vars', 'export const first = (one: number, two: number) => one;'],
  ['no-unused-vars', "const text = 'a';\nexport type Text = typeof text;"],
  ['no-var', 'export var one = 1;'],
  ['node/no-process-env', 'export const { HOME } = process.env;'],
  ['prefer-const', 'let one = 1;\nexport { one };'],
  ['prefer-rest-params', 'export function first() {\n  return arguments[0] as unknown;\n}'],
  ['prefer-spread', 'export const run = (add: (...all: number[]) => void, all: number[]) => add.apply(undefined, all);'],
  ['regexp/no-super-linear-backtracking', 'export const nested = /^(?:a+)+$/;'],
  ['regexp/no-super-linear-move', 'export const slashes = /\\/+$/;'],
  ['typescript/ban-ts-comment', '// @ts-ignore\nexport const one = 1;'],
  ['typescript/consistent-type-assertions', 'export const read = (value: unknown) => <string>value;'],
  ['typescript/consistent-type-definitions', 'export interface One {\n  one: 1;\n}'],
  ['typescript/no-duplicate-enum-values', 'export enum Size {\n  Small = 1,\n  Large = 1,\n}'],
  ['typescript/no-empty-object-type', 'export type Nothing = {};'],
  ['typescript/no-explicit-any', 'export type Text = any;'],
  ['typescript/no-extra-non-null-assertion', 'export const read = (fields?: { one: 1 }) => fields!!.one;'],
  ['typescript/no-misused-new', 'export type One = { constructor(): void };'],
  ['typescript/no-namespace', 'export namespace One {\n  export const one = 1;\n}'],
  ['typescript/no-non-null-asserted-optional-chain', 'export const read = (fields?: { one: 1 }) => fields?.one!;'],
  ['typescript/no-require-imports', "export const load = (): unknown => require('node:fs');"],
  ['typescript/no-this-alias', 'export class One {\n  run() {\n    const self = this;\n    return () => self;\n  }\n}'],
  ['typescript/no-unnecessary-type-constraint', 'export const same = <T extends unknown>(value: T) => value;'],
  ['typescript/no-unsafe-declaration-merging', 'class One {}\ninterface One {\n  one: 1;\n}\nexport { One };'],
  ['typescript/no-unsafe-function-type', 'export type Run = Function;'],
  ['typescript/no-wrapper-object-types', 'export type Text = String;'],
  ['typescript/prefer-as-const', "export const text = 'a' as 'a';"],
  ['typescript/prefer-namespace-keyword', 'module One {}\nexport {};'],
  ['typescript/triple-slash-reference', '/// <reference path="./one.ts" />\nexport {};'],
  ['verbatim/type-imports', "import { Stats } from 'node:fs';\nexport const size = (of: Stats) => of.size;"],
  ['verbatim/type-imports', "import fs from 'node:fs';\nexport type Read = typeof fs.readFile;"],
  ['verbatim/type-imports', "export type Stats = import('node:fs').Stats;"],
];

/** Correct code. Its imports look as if they were only used as types. */
const sound: Readonly<Record<string, string>> = {
  'a promise': 'export const sound = async (): Promise<number> => 1;',
  'a class that Nest reads from a constructor':
    "import { Stats } from 'node:fs';\nconst service: ClassDecorator = () => undefined;\n@service\nexport class One {\n  constructor(readonly stats: Stats) {}\n}",
  'a class that is also a value':
    "import { Stats } from 'node:fs';\nexport const isStats = (value: unknown): value is Stats => value instanceof Stats;",
  'a class that is exported': "import { Stats } from 'node:fs';\nexport { Stats };",
};

let found: (file: string) => readonly Finding[];
const brokenFile = (place: number) => `src/kernel/broken-${place}.ts`;
const soundFile = (name: string) => `src/kernel/${name.replaceAll(' ', '-')}.ts`;
const UNUSED_DIRECTIVE = 'src/kernel/unused-directive.ts';

beforeAll(async () => {
  found = await linted(import.meta.filename, {
    ...Object.fromEntries(broken.map(([, code], place) => [brokenFile(place), code])),
    ...Object.fromEntries(Object.entries(sound).map(([name, code]) => [soundFile(name), code])),
    [UNUSED_DIRECTIVE]: 'export const one = 1; // oxlint-disable-line no-var',
  });
}, LINTED_MS_MAX);

it.each(broken.map(([rule], place) => [rule, place] as const))('%s is reported', (rule, place) => {
  expect(found(brokenFile(place)).map((finding) => finding.rule)).toContain(rule);
});

it.each(Object.keys(sound))('correct code is not reported: %s', (name) => {
  expect(found(soundFile(name))).toEqual([]);
});

it('a directive that disables nothing is reported', () => {
  expect(found(UNUSED_DIRECTIVE)).toEqual([
    expect.objectContaining({ message: expect.stringContaining('Unused oxlint-disable') }),
  ]);
});

it('every enabled rule is tested with code that breaks it', async () => {
  const shown = broken.map(([rule]) => rule).filter((rule) => !rule.startsWith('TS'));
  expect([...new Set(shown)].sort()).toEqual([...(await enabledRules())].sort());
});
