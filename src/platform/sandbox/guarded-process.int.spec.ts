import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import type { TestProgramOptions, TestQuestion } from '../../../test/support/guarded-program.js';
import { startOf } from '../postgres/process-table.js';
import { GuardedProcess } from './guarded-process.js';

const PROGRAM = new URL('../../../test/support/guarded-program.js', import.meta.url);
const OWNER = fileURLToPath(new URL('../../../test/support/guarded-program.owner.js', import.meta.url));

let folder: string;
let log: string;
let guarded: GuardedProcess<TestQuestion, unknown>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guarded-process-'));
  log = join(folder, 'log');
});
afterEach(async () => {
  await guarded.close();
  await rm(folder, { recursive: true });
});

const start = (options: TestProgramOptions = {}, inHandMax?: number, standbyMs?: number) => {
  const program = { entry: PROGRAM, options: { log, ...options } };
  return (guarded = new GuardedProcess({ program, ...(inHandMax && { inHandMax }), ...(standbyMs && { standbyMs }) }));
};
const logged = async () => (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean);

const isRunning = (pid: number) => startOf(pid) !== undefined;
const untilGone = (pid: number) => eventually(() => !isRunning(pid));

describe('a guarded process', () => {
  it('is started by the first question, answers each question and keeps running', async () => {
    start();
    expect(guarded.pid).toBeUndefined();
    const questions = [1, { when: new Date(0) }, new Uint8Array([1, 2])];
    expect(await Promise.all(questions.map((echo) => guarded.ask({ echo })))).toEqual(questions);
    expect(await logged()).toEqual(['started']);
  });

  it('can receive many bytes', async () => {
    const bytes = new Uint8Array(50_000_000).fill(7);
    expect(Buffer.compare((await start().ask({ echo: bytes })) as Uint8Array, bytes)).toBe(0);
  });

  it('is given a bounded number of questions at once', async () => {
    start({}, 1);
    expect(await Promise.all(['alone', 'alone', 'alone'].map(() => guarded.ask('alone')))).toEqual(['alone', 'alone', 'alone']);
  });

  it('passes on an error of the program', async () => {
    await expect(start().ask('throw')).rejects.toMatchObject({ cause: expect.stringContaining('thrown inside') as unknown });
  });

  it('rejects a question that cannot be cloned', async () => {
    await expect(start().ask({ echo: () => 1 })).rejects.toThrow('could not be cloned');
    expect(await guarded.ask({ echo: 1 })).toBe(1);
  });
});

describe('an aborted question', () => {
  it('is cancelled and makes room for the next', async () => {
    start({}, 1);
    await guarded.ask({ echo: 'ready' });
    const controller = new AbortController();
    const waiting = guarded.ask('wait', controller.signal);
    const next = guarded.ask('alone');
    controller.abort(new Error('Enough.'));
    await expect(waiting).rejects.toThrow('Enough.');
    expect(await next).toBe('alone');
    expect(await logged()).toEqual(['started', 'cancelled']);
  });

  it('is not sent when it was aborted before or while it waits', async () => {
    start({}, 1);
    const controller = new AbortController();
    const waiting = guarded.ask('wait', controller.signal);
    controller.abort(new Error('Enough.'));
    await expect(waiting).rejects.toThrow('Enough.');
    await expect(guarded.ask('wait', controller.signal)).rejects.toThrow('Enough.');
    expect(await guarded.ask('alone')).toBe('alone');
    expect(await logged()).toEqual(['started']);
  });
});

describe('a process that crashes', () => {
  it('fails the question that crashes it twice and answers the other questions', async () => {
    start();
    const deadly = [guarded.ask('abort'), guarded.ask('abort')];
    const innocent = [guarded.ask({ echo: 1 }), guarded.ask('alone')];
    const outcomes = await Promise.allSettled([...deadly, ...innocent]);
    expect(outcomes).toMatchObject([
      { reason: { name: 'GuardedProcessFailed', failure: 'died', message: expect.stringContaining('SIGABRT') as unknown } },
      { reason: { failure: 'died' } },
      { value: 1 },
      { value: 'alone' },
    ]);
    // One start for all questions, one for each of the two that crash it, and one for the rest.
    expect(await logged()).toEqual(Array(4).fill('started'));
  });

  it('is replaced for the next question', async () => {
    await start().ask({ echo: 'ready' });
    const { pid } = guarded;
    process.kill(pid!, 'SIGKILL');
    await untilGone(pid!);
    expect(await guarded.ask({ echo: 'again' })).toBe('again');
    expect(guarded.pid).not.toBe(pid);
  });

  it('is replaced by a standby process when the last crash was recent', async () => {
    start({}, 1, 60_000);
    await Promise.allSettled([guarded.ask('abort')]);
    // Two processes that the question has crashed, one that replaced them, and one standby.
    await eventually(async () => (await logged()).length >= 3);
    await guarded.ask({ echo: 'ready' });
    await eventually(async () => (await logged()).length === 4);
    const { pid } = guarded;
    process.kill(pid!, 'SIGKILL');
    await untilGone(pid!);
    expect(await guarded.ask({ echo: 'again' })).toBe('again');
    await eventually(async () => (await logged()).length === 5);
  });

  it('has no standby process after a time without a crash', async () => {
    start({ logsPid: true }, 1, 3_000);
    await guarded.ask({ echo: 'ready' });
    process.kill(guarded.pid!, 'SIGKILL');
    await eventually(async () => (await logged()).length === 2);
    await untilGone(Number((await logged())[1]!.split(' ')[1]));
    expect(await guarded.ask({ echo: 'again' })).toBe('again');
  });

  it('before it is ready is started three times, and then the waiting questions fail', async () => {
    start({ ends: 'before it is ready' });
    const failed = { failure: 'not-started', message: expect.stringContaining('ended with 3') as unknown };
    const outcomes = await Promise.allSettled([guarded.ask({ echo: 1 }), guarded.ask({ echo: 2 })]);
    expect(outcomes).toMatchObject([{ reason: failed }, { reason: failed }]);
    expect(await logged()).toHaveLength(3);
    await expect(guarded.ask({ echo: 3 })).rejects.toMatchObject(failed);
  });
});

describe('the end of the process', () => {
  it('is immediate when it is closed, and fails its questions', async () => {
    start({}, 2);
    await guarded.ask('busy thread');
    const { pid } = guarded;
    const outcomes = Promise.allSettled(['wait', 'wait', 'wait'].map(() => guarded.ask('wait')));
    await guarded.close();
    expect(await outcomes).toMatchObject(Array(3).fill({ reason: { failure: 'closed' } }));
    expect(isRunning(pid!)).toBe(false);
    await expect(guarded.ask({ echo: 1 })).rejects.toMatchObject({ failure: 'closed' });
  });

  it('is not caused by signals that all processes of the service get', async () => {
    await start().ask({ echo: 1 });
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(guarded.pid!, signal);
    expect(await guarded.ask({ echo: 2 })).toBe(2);
    expect(await logged()).toEqual(['started']);
  });

  const own = (...questions: TestQuestion[]) => {
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    return spawn(process.execPath, [OWNER, ...questions.map(String)], { stdio });
  };
  const pidIn = async (output: NodeJS.ReadableStream) => Number((await once(createInterface(output), 'line'))[0]);

  it('follows a killed service, also when the process is busy', async () => {
    start();
    const owner = own('busy thread', 'wait');
    const pid = await pidIn(owner.stdout);
    expect(isRunning(pid)).toBe(true);
    owner.kill('SIGKILL');
    await untilGone(pid);
  });

  it('follows a service that ends while the process is idle', async () => {
    start();
    const owner = own('alone');
    const ended = once(owner, 'exit');
    const pid = await pidIn(owner.stdout);
    expect(await ended).toEqual([0, null]);
    await untilGone(pid);
  });
});
