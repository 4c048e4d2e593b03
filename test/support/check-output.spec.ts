import { expect, it } from '@jest/globals';
import { tmpdir } from 'node:os';
import { outputOfCheck } from './check-output.js';

const run = (script: string, folder = tmpdir()) =>
  outputOfCheck(['--eval', `process.stdout.write('{}'); ${script}`], folder, 1000);

it.each([
  ['finds nothing', ''],
  ['finds something', 'process.exitCode = 1;'],
])('is known if the check %s', async (_, script) => {
  expect(await run(script)).toBe('{}');
});

it.each([
  ['fails', () => run('process.exitCode = 2;')],
  ['is killed', () => run("process.kill(process.pid, 'SIGKILL');")],
  ['cannot start', () => run('', '/nowhere')],
  ['prints more than is read', () => run("process.stdout.write('x'.repeat(1000));")],
])('is a failure if the check %s', async (_, output) => {
  await expect(output()).rejects.toThrow();
});
