import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { MUTANT_SEEDS_MAX, MUTANTS } from './mutants.js';
import { runSeed } from './world/world.js';

/** `--seed 17` runs one seed and prints what happened; `--seeds 2000 --from 1` runs many and prints those that fail; `--mutants` shows the seed that finds each. */
const { values } = parseArgs({
  options: {
    mutants: { type: 'boolean' },
    mutant: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
  },
});

const mutant = MUTANTS.find(({ name }) => name === values.mutant);

if (values.mutants) {
  for (const each of MUTANTS) {
    let seed = Number(values.from) - 1;
    let found: string | undefined;
    while (!found && ++seed < Number(values.from) + MUTANT_SEEDS_MAX) {
      found = (await runSeed(seed, { mutant: each })).violations.find((violation) => each.foundAs.test(violation));
    }
    console.log(found ? `seed ${seed}: ${each.name}: ${found}` : `NOT FOUND: ${each.name}`);
  }
} else if (values.seed !== undefined) {
  const result = await runSeed(Number(values.seed), { isTraced: true, mutant });
  console.log(result.lines.join('\n'));
  console.log([...result.coverage.counts]);
  console.log(result.violations.length === 0 ? 'Everything held.' : result.violations.join('\n'));
  console.log(
    `seed ${result.seed}: ${result.steps} steps, ${result.virtualMs} ms, trace ${result.digest}, Node ${process.version}`,
  );
} else {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage().user;
  const coverage = new Map<string, number>();
  let failed = 0;
  let steps = 0;
  for (let seed = Number(values.from); seed < Number(values.from) + Number(values.seeds); seed++) {
    const result = await runSeed(seed, { mutant });
    steps += result.steps;
    for (const what of result.coverage.counts.keys()) coverage.set(what, (coverage.get(what) ?? 0) + 1);
    if (result.violations.length === 0) continue;
    failed++;
    console.log(`seed ${seed} (${result.digest}): ${result.violations.slice(0, 4).join(' | ')}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = (process.cpuUsage().user - cpuBefore) / 1e6;
  const took = `${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of a processor)`;
  console.log(`${failed} of ${values.seeds} seeds failed; ${steps} steps in ${took}`);
  for (const [what, seeds] of [...coverage].sort(([, one], [, other]) => other - one))
    console.log(`${String(seeds).padStart(6)} seeds: ${what}`);
}
