import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { postponeCompilation } from './late-compilation.js';

/** Bits of the status that V8 reports of a function. */
const TURBOFANNED = 1 << 6;
const BASELINE = 1 << 15;

const RUNS = 2_000;

/** A function that V8 soon compiles, and its status. */
function busy() {
  setFlagsFromString('--allow-natives-syntax');
  const statusOf = runInThisContext('(f) => %GetOptimizationStatus(f)') as (f: unknown) => number;
  const sum = runInThisContext('(n) => { let all = 0; for (let i = 0; i < n; i++) all += i % 7; return all; }') as (
    n: number,
  ) => number;
  const run = () => {
    for (let i = 0; i < RUNS; i++) sum(RUNS);
  };
  return { run, status: () => statusOf(sum) };
}

it('interprets functions on the V8 of Node 20 until compilation is permitted, and never keeps another version from it', async () => {
  const { run, status } = busy();
  const permitCompilation = postponeCompilation();
  try {
    run();
    if (process.versions.v8.startsWith('11.')) expect(status() & (TURBOFANNED | BASELINE)).toBe(0);
  } finally {
    permitCompilation();
  }
  await eventually(() => {
    run();
    return (status() & TURBOFANNED) !== 0;
  });
});

it('does nothing on a later V8', async () => {
  const { run, status } = busy();
  postponeCompilation('13.6.233.17-node.53');
  await eventually(() => {
    run();
    return (status() & TURBOFANNED) !== 0;
  });
});
