import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { findMutants, runSeeds } from './campaign.js';
import { MUTANTS } from './mutants/mutants.js';
import { shrink, type Shrunk } from './shrink.js';
import { type Result, runSeed } from './world/world.js';

/**
 * `--seed 17` runs one seed and prints what happened. `--seeds 2000 --from 1` runs many and prints those that fail. `--mutants`
 * prints the number of seeds until each planted fault is found. `--seed 17 --shrink` looks for the smallest part of a seed that
 * fails in the same way. `--without 'trouble 2'`, which may be repeated, leaves that part out of a seed. `--json` prints the
 * result as JSON.
 */
const { values } = parseArgs({
  options: {
    mutants: { type: 'boolean' },
    mutant: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    shrink: { type: 'boolean' },
    without: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean' },
  },
});

const mutant = MUTANTS.find(({ name }) => name === values.mutant);
const medianOf = (numbers: readonly number[]): number => numbers.toSorted((one, other) => one - other)[numbers.length >> 1]!;

function linesOfSeed(result: Result): readonly string[] {
  return [
    ...result.lines,
    ...[...result.coverage.counts].map(([what, times]) => `${String(times).padStart(6)} times: ${what}`),
    ...(result.violations.length === 0 ? ['Everything held.'] : result.violations),
    `seed ${result.seed}: ${result.steps} steps, ${result.virtualMs} ms, trace ${result.digest}, Node ${process.version}`,
  ];
}

const linesOfShrunk = ({ result, leftOut, partsBefore, stepsBefore, runs }: Shrunk): readonly string[] => [
  ...linesOfSeed(result),
  `It took, after ${runs} runs: ${result.parts.filter((part) => !leftOut.includes(part)).join(', ')}`,
  `${partsBefore} parts and ${stepsBefore} steps have become ${partsBefore - leftOut.length} and ${result.steps}. The same again:`,
  `npm run --silent simulate -- --seed ${result.seed} ${leftOut.map((part) => `--without '${part}'`).join(' ')}`,
];

const print = <T>(result: T, linesOf: (result: T) => readonly string[]): void =>
  console.log(values.json ? JSON.stringify(result) : linesOf(result).join('\n'));

if (values.mutants) {
  print(await findMutants(Number(values.from), mutant && [mutant]), (findings) => [
    ...findings.map(({ mutant, seeds, violation }) =>
      violation === undefined ? `NOT FOUND: ${mutant}` : `after ${seeds} seeds: ${mutant}: ${violation}`,
    ),
    `${findings.length} faults, found after ${medianOf(findings.map(({ seeds }) => seeds))} seeds in the median`,
  ]);
} else if (values.seed !== undefined && values.shrink) {
  print(await shrink(Number(values.seed), mutant), (shrunk) => (shrunk ? linesOfShrunk(shrunk) : ['Everything held.']));
} else if (values.seed !== undefined) {
  const options = { isTraced: true, mutant, leftOut: new Set(values.without) };
  print(await runSeed(Number(values.seed), options), linesOfSeed);
} else {
  print(await runSeeds(Number(values.from), Number(values.seeds), mutant), ({ failures, reached, steps, seconds }) => [
    ...failures,
    `${failures.length} failures in ${values.seeds} seeds; ${steps} steps in ${seconds.toFixed(1)} s`,
    ...Object.entries(reached)
      .sort(([, one], [, other]) => other - one)
      .map(([what, seeds]) => `${String(seeds).padStart(6)} seeds: ${what}`),
  ]);
}
