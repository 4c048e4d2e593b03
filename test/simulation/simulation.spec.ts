import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import type { Campaign, Finding } from './campaign.js';
import type { Shrunk } from './shrink.js';
import type { Result } from './world/world.js';

const ROOT = join(import.meta.dirname, '..', '..');
/** The number of seeds, and the first one. */
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 1000);
const FROM = Number(process.env['SIMULATION_FROM'] ?? 1);
/** The minimum percentage of seeds that must reach each situation. */
const COVERAGE_PERCENT_MIN = {
  'a race was lost': 40,
  'a process was killed': 40,
  'a race was lost to what nobody could read yet': 15,
  'the store was away': 20,
  'a key was repeated': 20,
  'a delivery was repeated': 20,
  'a client cut its stream': 20,
  'an answer of the store was lost': 20,
  'a stream was read on from its cursor': 8,
  'a question was asked twice at once': 10,
  'a delivery came twice at once': 10,
  'a turn waited for a decision': 10,
  'a call was decided on twice at once': 3,
  'an append was the same as one in flight': 5,
  'a stop was accepted': 4,
  'a question was edited': 4,
  'a conversation was deleted': 4,
  'the leader changed': 20,
  'an append was under way while the leader changed': 8,
  'events were lost with their leader': 6,
  'there was no leader': 18,
  'a task was to be tried again': 15,
  'a clock went ahead and came back': 18,
  'a slot came to a run': 15,
  'a slot was missed': 3,
  'a slot was skipped': 1,
  'a slot passed in a pause': 1,
  'no worker took a question in time': 3,
  'a worker came after its reader was told that there is none': 1,
  'a run was asked for': 6,
  'what a run said was added to its chat': 5,
  'a call went on as a job': 5,
  'a job was lost': 0.2,
  'a monitor found something': 3,
  'a conversation went on by itself': 8,
  'a conversation took a snapshot': 0.5,
  'two follow-ups were told together': 1,
};

/** Runs in a separate process, because the test runner needs the timers and dates that a simulation forbids. */
async function simulate<T>(...args: readonly string[]): Promise<T> {
  const program = [
    '--import',
    './test/support/typescript.js',
    'test/simulation/run.ts',
    '--json',
    '--from',
    String(FROM),
    ...args,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as T;
}

it('the simulation finds no violation, whatever crashes and whenever, and reaches every situation that it is meant for', async () => {
  const { failures, reached } = await simulate<Campaign>('--seeds', String(SEEDS));
  expect(failures).toEqual([]);
  const blind = Object.entries(COVERAGE_PERCENT_MIN).filter(([what, percent]) => (100 * (reached[what] ?? 0)) / SEEDS < percent);
  expect(SEEDS < 200 ? [] : blind.map(([what]) => `${what}: ${reached[what] ?? 0} of ${SEEDS} seeds`)).toEqual([]);
}, 600_000);

it('the simulation finds every planted fault', async () => {
  const findings = await simulate<Finding[]>('--mutants');
  expect(findings.length).toBeGreaterThanOrEqual(25);
  expect(findings.filter(({ violation }) => violation === undefined)).toEqual([]);
}, 600_000);

it('the simulation reduces a failing seed to few parts', async () => {
  const mutant = 'decides again before the winner of a race can be read';
  const found = (await simulate<Finding[]>('--mutants', '--mutant', mutant))[0]!;
  const seed = String(FROM + found.seeds - 1);
  const { result, leftOut, partsBefore } = await simulate<Shrunk>('--seed', seed, '--shrink', '--mutant', mutant);
  // Fewer parts may take more steps, because others then run longer.
  expect(leftOut.length).toBeGreaterThan(0);
  expect(leftOut.length).toBeLessThan(partsBefore);
  expect(result.violations).not.toEqual([]);
  const without = leftOut.flatMap((part) => ['--without', part]);
  const again = await simulate<Result>('--seed', seed, '--mutant', mutant, ...without);
  expect([again.digest, again.violations]).toEqual([result.digest, result.violations]);
}, 600_000);
