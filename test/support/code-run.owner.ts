import { PythonRunner } from '../../src/resources/code/python/python-runner.js';

/** Runs code without an end, in an interpreter that is told apart by how long it would be kept. */
const runner = new PythonRunner({ idleMs: Number(process.argv[2]) });
const job = { code: process.argv[3]!, state: null, inputs: [], timeoutMs: 300_000 };
void runner.run(job, new AbortController().signal);
