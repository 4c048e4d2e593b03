import { MUTANTS } from './mutants/mutants.js';
import type { Mutant } from './world/mutant.js';
import { runSeed } from './world/world.js';

/** 1 in this many seeds is run twice. Both runs must be equal to the last step. */
const REPEATED_ONE_IN = 100;
const MUTANT_SEEDS_MAX = 400;

/** The result of many seeds. */
export type Campaign = Readonly<{
  failures: readonly string[];
  /** The number of seeds that reached each situation. */
  reached: Readonly<Record<string, number>>;
  steps: number;
  seconds: number;
}>;

/** The number of seeds until a planted fault is found, and its violation. */
export type Finding = Readonly<{ mutant: string; seeds: number; violation?: string }>;

export async function runSeeds(from: number, seeds: number, mutant?: Mutant): Promise<Campaign> {
  const startedAt = performance.now();
  const failures: string[] = [];
  const reached: Record<string, number> = {};
  let steps = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const result = await runSeed(seed, { mutant });
    steps += result.steps;
    for (const what of result.coverage.counts.keys()) reached[what] = (reached[what] ?? 0) + 1;
    if (result.violations.length > 0) failures.push(`seed ${seed}: ${result.violations.slice(0, 4).join(' | ')}`);
    if (seed % REPEATED_ONE_IN === 0 && (await runSeed(seed, { mutant })).digest !== result.digest)
      failures.push(`seed ${seed} took another course the second time`);
  }
  return { failures, reached, steps, seconds: (performance.now() - startedAt) / 1000 };
}

export async function findMutants(from: number, mutants = MUTANTS): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const mutant of mutants) findings.push(await findMutant(mutant, from));
  return findings;
}

async function findMutant(mutant: Mutant, from: number): Promise<Finding> {
  for (let seed = from; seed < from + MUTANT_SEEDS_MAX; seed++) {
    const { violations } = await runSeed(seed, { mutant });
    const violation = violations.find((each) => mutant.foundAs.test(each));
    if (violation !== undefined) return { mutant: mutant.name, seeds: seed - from + 1, violation };
  }
  return { mutant: mutant.name, seeds: MUTANT_SEEDS_MAX };
}
