import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { findMutants, runSeeds } from './campaign.js';
import { MUTANTS } from './mutants.js';
import { runSeed } from './world/world.js';

/**
 * `--seed 17` runs one seed and prints what happened; `--seeds 2000 --from 1` runs many and prints those that fail; `--mutants` prints
 * the seed that finds each planted fault. `--json` prints the result as JSON.
 */
const { values } = parseArgs({
  options: {
    mutants: { type: 'boolean' },
    mutant: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    json: { type: 'boolean' },
  },
});

const mutant = MUTANTS.find(({ name }) => name === values.mutant);
const print = <T>(result: T, linesOf: (result: T) => readonly string[]): void =>
  console.log(values.json ? JSON.stringify(result) : linesOf(result).join('\n'));

if (values.mutants) {
  print(await findMutants(Number(values.from)), (findings) =>
    findings.map((found) =>
      found.seed === undefined ? `NOT FOUND: ${found.mutant}` : `seed ${found.seed}: ${found.mutant}: ${found.violation}`,
    ),
  );
} else if (values.seed !== undefined) {
  print(await runSeed(Number(values.seed), { isTraced: true, mutant }), (result) => [
    ...result.lines,
    ...[...result.coverage.counts].map(([what, times]) => `${String(times).padStart(6)} times: ${what}`),
    ...(result.violations.length === 0 ? ['Everything held.'] : result.violations),
    `seed ${result.seed}: ${result.steps} steps, ${result.virtualMs} ms, trace ${result.digest}, Node ${process.version}`,
  ]);
} else {
  print(await runSeeds(Number(values.from), Number(values.seeds), mutant), ({ failures, reached, steps, seconds }) => [
    ...failures,
    `${failures.length} failures in ${values.seeds} seeds; ${steps} steps in ${seconds.toFixed(1)} s`,
    ...Object.entries(reached)
      .sort(([, one], [, other]) => other - one)
      .map(([what, seeds]) => `${String(seeds).padStart(6)} seeds: ${what}`),
  ]);
}
