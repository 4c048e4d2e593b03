import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { runSeed } from './world/world.js';

/** `--seed 17` runs one seed and prints what happened; `--seeds 2000 --from 1` runs many and prints those that fail. */
const { values } = parseArgs({
  options: { seed: { type: 'string' }, seeds: { type: 'string', default: '200' }, from: { type: 'string', default: '1' } },
});

if (values.seed !== undefined) {
  const result = await runSeed(Number(values.seed), true);
  console.log(result.lines.join('\n'));
  console.log([...result.coverage.counts]);
  console.log(result.violations.length === 0 ? 'Everything held.' : result.violations.join('\n'));
  console.log(
    `seed ${result.seed}: ${result.steps} steps, ${result.virtualMs} ms, trace ${result.digest}, Node ${process.version}`,
  );
} else {
  const startedAt = performance.now();
  const coverage = new Map<string, number>();
  let failed = 0;
  let steps = 0;
  for (let seed = Number(values.from); seed < Number(values.from) + Number(values.seeds); seed++) {
    const result = await runSeed(seed);
    steps += result.steps;
    for (const what of result.coverage.counts.keys()) coverage.set(what, (coverage.get(what) ?? 0) + 1);
    if (result.violations.length === 0) continue;
    failed++;
    console.log(`seed ${seed} (${result.digest}): ${result.violations.slice(0, 4).join(' | ')}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${failed} of ${values.seeds} seeds failed; ${steps} steps in ${seconds.toFixed(1)} s`);
  for (const [what, seeds] of [...coverage].sort(([, one], [, other]) => other - one))
    console.log(`${String(seeds).padStart(6)} seeds: ${what}`);
}
