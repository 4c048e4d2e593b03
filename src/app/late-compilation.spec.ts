import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { postponeCompilation } from './late-compilation.js';

/** Bits of the status that V8 reports of a function. */
const OPTIMIZED = 1 << 4;
const BASELINE = 1 << 15;

const RUNS = 2_000;

it('interprets functions until compilation is permitted', async () => {
  setFlagsFromString('--allow-natives-syntax');
  const statusOf = runInThisContext('(f) => %GetOptimizationStatus(f)') as (f: unknown) => number;
  const sum = runInThisContext('(n) => { let all = 0; for (let i = 0; i < n; i++) all += i % 7; return all; }') as (
    n: number,
  ) => number;
  const run = () => {
    for (let i = 0; i < RUNS; i++) sum(RUNS);
  };
  const permitCompilation = postponeCompilation();
  try {
    run();
    expect(statusOf(sum) & (OPTIMIZED | BASELINE)).toBe(0);
  } finally {
    permitCompilation();
  }
  await eventually(() => {
    run();
    return (statusOf(sum) & OPTIMIZED) !== 0;
  });
});
