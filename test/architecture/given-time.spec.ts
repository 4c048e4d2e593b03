import { ESLint } from 'eslint';
import { beforeAll, describe, expect, it } from '@jest/globals';

const CORE_FILE = 'src/kernel/event-sourcing/streams.ts';

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

let eslint: ESLint;
/** The lint messages for a text as the content of a file. */
const messagesOf = async (code: string, filePath: string): Promise<string[]> => {
  const [result] = await eslint.lintText(code, { filePath });
  return result!.messages.filter(({ ruleId }) => ruleId?.startsWith('no-restricted') ?? true).map(({ message }) => message);
};

beforeAll(() => {
  eslint = new ESLint({ ruleFilter: ({ ruleId }) => ruleId.startsWith('no-restricted') });
});

describe('the core', () => {
  it.each(broken)('does not use the machine: %s', async (code, message) => {
    expect(await messagesOf(code, CORE_FILE)).toEqual([expect.stringContaining(message)]);
  });

  it.each(sound)('may contain: %s', async (code) => {
    expect(await messagesOf(code, CORE_FILE)).toEqual([]);
  });

  it.each([
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
  ])('includes %s', async (folder) => {
    expect(await messagesOf(broken[0]![0], `src/${folder}/probe.ts`)).toHaveLength(1);
  });

  it('includes controllers, which may create ids', async () => {
    expect(await messagesOf("import { newId } from '../kernel/ids.js';", 'src/triggers/schedules/schedules.http.ts')).toEqual([]);
    expect(await messagesOf(broken[0]![0], 'src/triggers/schedules/schedules.http.ts')).toHaveLength(1);
  });

  it('excludes the platform and the specs', async () => {
    for (const file of [
      'src/platform/system-timing.ts',
      'src/kernel/event-sourcing/streams.spec.ts',
      'src/resources/sources/probe.ts',
    ])
      expect(await messagesOf(broken[0]![0], file)).toEqual([]);
  });
});
