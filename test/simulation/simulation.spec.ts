import { expect, it } from '@jest/globals';
import { MUTANT_SEEDS_MAX, MUTANTS } from './mutants.js';
import { runSeed } from './world/world.js';

/** How many seeds are run, and which is the first. */
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 200);
const FROM = Number(process.env['SIMULATION_FROM'] ?? 1);
/** One seed in so many is run twice: it has to take the same course to the last step. */
const REPEATED_ONE_IN = 100;
/** What has to come about in so many of a hundred seeds. */
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
};

it('holds every promise, whatever dies and whenever, and gets to what it is for', async () => {
  const failures: string[] = [];
  const reached = new Map<string, number>();
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const { violations, digest, coverage } = await runSeed(seed);
    if (violations.length > 0) failures.push(`seed ${seed}: ${violations.join(' | ')}`);
    for (const what of coverage.counts.keys()) reached.set(what, (reached.get(what) ?? 0) + 1);
    if (seed % REPEATED_ONE_IN === 0 && (await runSeed(seed)).digest !== digest)
      failures.push(`seed ${seed} took another course the second time`);
  }
  expect(failures).toEqual([]);
  const blind = Object.entries(COVERAGE_PERCENT_MIN).filter(
    ([what, percent]) => (100 * (reached.get(what) ?? 0)) / SEEDS < percent,
  );
  expect(SEEDS < 200 ? [] : blind.map(([what]) => `${what}: ${reached.get(what) ?? 0} of ${SEEDS} seeds`)).toEqual([]);
}, 600_000);

it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  'finds a service that %s',
  async (_, mutant) => {
    let found: string | undefined;
    for (let seed = FROM; seed < FROM + MUTANT_SEEDS_MAX && !found; seed++) {
      found = (await runSeed(seed, { mutant })).violations.find((violation) => mutant.foundAs.test(violation));
    }
    expect(found).toBeDefined();
  },
  600_000,
);
