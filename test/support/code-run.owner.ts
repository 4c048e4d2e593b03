import { PythonRunner } from '../../src/resources/code/python/python-runner.js';

/** Runs code that never ends, in an interpreter that the test recognises by its idle timeout. */
const runner = new PythonRunner({ idleMs: Number(process.argv[2]) });
const job = { code: process.argv[3]!, state: null, inputs: [], timeoutMs: 300_000 };
void runner.run('ann', () => Promise.resolve(job), new AbortController().signal);
