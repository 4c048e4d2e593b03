import { expect, it } from '@jest/globals';
import { Worker } from 'node:worker_threads';
import { OWN_THREAD, threadTimeMs } from './thread-time.js';

const onLinux = process.platform === 'linux' ? it : it.skip;

onLinux('the processor time of a thread is measured', async () => {
  const program = `
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (ms) => {
      const { user } = process.cpuUsage();
      while (process.cpuUsage().user - user < 1000 * ms);
      parentPort.postMessage('done');
    });
    parentPort.postMessage(${OWN_THREAD});`;
  const worker = new Worker(program, { eval: true, env: {}, execArgv: [] });
  const said = () => new Promise<string>((resolve) => worker.once('message', resolve));
  try {
    const thread = await said();
    const before = threadTimeMs(thread)!;
    worker.postMessage(300);
    expect(await said()).toBe('done');
    expect(threadTimeMs(thread)! - before).toBeGreaterThan(0);
  } finally {
    await worker.terminate();
  }
});

it('the processor time of an unknown thread is undefined', () => expect(threadTimeMs('x')).toBeUndefined());
