import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';

/** V8 writes a bit set for the status of a function: compiled by TurboFan, or by Sparkplug. */
const COMPILED = '(1 << 6) | (1 << 15)';

/**
 * Runs a busy function in a process of its own, because flags of V8 stay for the rest of a process. Writes whether the function was
 * compiled before compilation was permitted, and after.
 */
function compiled(version: string): readonly boolean[] {
  const program = `
    import { runInThisContext } from 'node:vm';
    import { setTimeout as pause } from 'node:timers/promises';
    import { postponeCompilation } from './src/app/late-compilation.js';
    const statusOf = runInThisContext('(f) => %GetOptimizationStatus(f)');
    const sum = runInThisContext('(n) => { let all = 0; for (let i = 0; i < n; i++) all += i % 7; return all; }');
    const isCompiled = async (rounds) => {
      for (; rounds > 0 && (statusOf(sum) & (${COMPILED})) === 0; rounds--, await pause(5)) for (let i = 0; i < 2_000; i++) sum(2_000);
      return rounds > 0;
    };
    const permit = postponeCompilation(${version});
    const before = await isCompiled(5);
    permit();
    console.log(JSON.stringify([before, await isCompiled(10_000)]));`;
  const options = ['--allow-natives-syntax', '--import', './test/support/typescript.js', '--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' })) as boolean[];
}

it('keeps the V8 of Node 20 from compiling functions until it is permitted', () => {
  const isOfNode20 = process.versions.v8.startsWith('11.');
  expect(compiled('process.versions.v8')).toEqual([!isOfNode20, true]);
});

it('does nothing on a later V8', () => {
  expect(compiled("'13.6.233.17-node.53'")).toEqual([true, true]);
});
