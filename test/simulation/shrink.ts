import type { Mutant } from './world/mutant.js';
import { type Result, runSeed } from './world/world.js';

/** The maximum number of runs of a search. */
const RUNS_MAX = 400;

/** A failing seed, reduced to few parts that fail in the same way. */
export type Shrunk = Readonly<{
  result: Result;
  leftOut: readonly string[];
  partsBefore: number;
  stepsBefore: number;
  runs: number;
}>;

/** Leaves out parts of a run, larger groups first, as long as it fails in the same way. Undefined if the seed does not fail. */
export async function shrink(seed: number, mutant?: Mutant): Promise<Shrunk | undefined> {
  const whole = await runSeed(seed, { mutant });
  if (whole.violations.length === 0) return undefined;
  const kinds = new Set(whole.violations.map(kindOf));
  let [smallest, leftOut, runs] = [whole, new Set<string>(), 1];
  const tryWithout = async (parts: readonly string[]): Promise<boolean> => {
    const candidate = new Set([...leftOut, ...parts]);
    const result = await runSeed(seed, { mutant, leftOut: candidate });
    runs++;
    if (!result.violations.some((violation) => kinds.has(kindOf(violation)))) return false;
    [smallest, leftOut] = [result, candidate];
    return true;
  };
  for (let size = whole.parts.length; size >= 1 && runs < RUNS_MAX;) {
    let isSmaller = false;
    const left = smallest.parts.filter((part) => !leftOut.has(part));
    for (let at = 0; at < left.length && runs < RUNS_MAX; at += size) {
      if (await tryWithout(left.slice(at, at + size))) isSmaller = true;
    }
    if (size > 1 || !isSmaller) size >>= 1;
  }
  const result = await runSeed(seed, { mutant, leftOut, isTraced: true });
  return { result, leftOut: [...leftOut], partsBefore: whole.parts.length, stepsBefore: whole.steps, runs };
}

/** The kind of a violation, without ids and times. */
const kindOf = (violation: string): string =>
  violation.startsWith('After ') ? 'not over' : violation.replace(/[\w-]*\d[\w-]*/g, '#').replace(/“[^”]*”/g, '“”');
