import { beforeAll, describe, expect, it } from '@jest/globals';
import { linted, LINTED_MS_MAX } from '../support/lint.js';

const CLOCK = 'Take the `Clock`';
const TIMING = 'Take `Timing`';
const IDS = 'Take `Ids`';

/** A rule that no longer matches looks like clean code, so each rule is tested with code that breaks it. */
const broken: readonly [code: string, message: string][] = [
  ['export const at = Date.now();', CLOCK],
  ['export const at = new Date();', CLOCK],
  ['export const at = Date();', CLOCK],
  ['export const at = Temporal.Now.instant();', CLOCK],
  ['export const at = performance.now();', TIMING],
  ['export const at = process.hrtime();', TIMING],
  ['export const at = process.hrtime.bigint();', TIMING],
  ["import { performance as clock } from 'node:perf_hooks';", TIMING],
  ["import { hrtime } from 'node:process';", TIMING],
  ['setTimeout(() => undefined, 1);', TIMING],
  ['setInterval(() => undefined, 1);', TIMING],
  ['setImmediate(() => undefined);', TIMING],
  ['globalThis.setTimeout(() => undefined, 1);', 'Name what you use of it'],
  ["import { setTimeout as pause } from 'node:timers/promises';", TIMING],
  ["import { setTimeout as later } from 'timers';", TIMING],
  ["import { systemTiming } from '../../platform/system-timing.js';", TIMING],
  ['export const signal = AbortSignal.timeout(1);', TIMING],
  ['export const chance = Math.random();', TIMING],
  ['export const { random } = Math;', TIMING],
  ['export const id = crypto.randomUUID();', IDS],
  ["import { randomUUID } from 'node:crypto';", IDS],
  ["import { hash, randomBytes } from 'node:crypto';", IDS],
  ["import { webcrypto } from 'node:crypto';", IDS],
  ['export const bytes = crypto.getRandomValues(new Uint8Array(1));', IDS],
  ["import { newId } from './ids.js';", IDS],
  ["import { isId, newId } from '../../kernel/ids.js';", IDS],
  ["import { systemIds } from '../../platform/system-ids.js';", TIMING],
];

/** Code that looks like it uses the machine, but does not. */
const sound = [
  "export const at = new Date('2026-01-01');",
  "export const at = Date.parse('2026-01-01');",
  "import { createHash, hash } from 'node:crypto';",
  "import { deterministicId, type Ids, isId } from './ids.js';",
  'export const pause = (timing: { pause: (ms: number) => Promise<void> }) => timing.pause(1);',
];

const NOW = 'export const at = Date.now();';
const NEW_ID = "import { newId } from '../../kernel/ids.js';";

const folders = [
  'kernel',
  'work/tasks',
  'dialogue/answering/loop',
  'background/jobs',
  'triggers/schedules/runs',
  'views/notifications',
  'platform/projections',
  'platform/reactions',
  'platform/tickers',
  'platform/supervision',
];
const CONTROLLER = 'src/triggers/schedules/schedules.http.ts';
const CONTROLLER_WITH_IDS = 'src/triggers/schedules/ids.http.ts';
const outside = ['src/platform/system-timing.ts', 'src/kernel/event-sourcing/streams.spec.ts', 'src/resources/sources/probe.ts'];

const ENVIRONMENT = 'export const home = process.env.HOME;';
const withoutEnvironment = ['src/resources/sources/home.ts', 'src/resources/sources/home.spec.ts', 'projections/sources/home.ts'];
const withEnvironment = ['src/platform/config/home.ts', 'test/support/home.ts'];

const coreFile = (kind: string, place: number) => `src/kernel/event-sourcing/${kind}-${place}.ts`;
const inFolder = (folder: string) => `src/${folder}/probe.ts`;

let messagesOf: (file: string) => readonly string[];
beforeAll(async () => {
  const found = await linted(import.meta.filename, {
    ...Object.fromEntries(broken.map(([code], place) => [coreFile('broken', place), code])),
    ...Object.fromEntries(sound.map((code, place) => [coreFile('sound', place), code])),
    ...Object.fromEntries([...folders.map(inFolder), ...outside, CONTROLLER].map((file) => [file, NOW])),
    [CONTROLLER_WITH_IDS]: NEW_ID,
    ...Object.fromEntries([...withoutEnvironment, ...withEnvironment].map((file) => [file, ENVIRONMENT])),
  });
  messagesOf = (file) =>
    found(file)
      .filter(({ rule }) => rule.includes('no-restricted') || rule === 'node/no-process-env')
      .map(({ message }) => message);
}, LINTED_MS_MAX);

describe('the core', () => {
  it.each(broken.map(([code, message], place) => [code, message, place] as const))(
    'does not use the machine: %s',
    (_, message, place) => {
      expect(messagesOf(coreFile('broken', place))).toEqual([expect.stringContaining(message)]);
    },
  );

  it.each(sound.map((code, place) => [code, place] as const))('may contain: %s', (_, place) => {
    expect(messagesOf(coreFile('sound', place))).toEqual([]);
  });

  it.each(folders)('includes %s', (folder) => {
    expect(messagesOf(inFolder(folder))).toHaveLength(1);
  });

  it('includes controllers, which may create ids', () => {
    expect(messagesOf(CONTROLLER_WITH_IDS)).toEqual([]);
    expect(messagesOf(CONTROLLER)).toHaveLength(1);
  });

  it('excludes the platform and the specs', () => {
    for (const file of outside) expect(messagesOf(file)).toEqual([]);
  });
});

describe('the environment', () => {
  it.each(withoutEnvironment)('is not read by %s', (file) => {
    expect(messagesOf(file)).toHaveLength(1);
  });

  it.each(withEnvironment)('may be read by %s', (file) => {
    expect(messagesOf(file)).toEqual([]);
  });
});
