import { Logger } from '@nestjs/common';
import { Turns } from '../../../kernel/turns.js';
import { CODE_LIMITS, type CodeLimits } from '../code-limits.js';
import { type CodeJob, type CodeResult, CodeRunner } from '../code-runner.port.js';
import { isFileName } from '../file-name.policy.js';
import { freshMemory, PythonNotStarted, PythonProcess } from './python-process.js';

/** A second attempt may succeed, because the first may have timed out on a busy machine. */
const STARTS_MAX = 2;

const failed = (kind: 'error' | 'unavailable', text: string): CodeResult => ({
  stdout: '',
  stderr: '',
  files: [],
  failure: { kind, text },
});

/**
 * Runs Python in one process per run. After each run a spare interpreter is started, because starting one takes seconds. It is
 * stopped if no run uses it for a while.
 */
export class PythonRunner extends CodeRunner {
  private readonly logger = new Logger(PythonRunner.name);
  private readonly limits: CodeLimits;
  /** Each is called with whether its run may begin. */
  private readonly waiting = new Turns<(mayBegin: boolean) => void>();
  private readonly processes = new Set<PythonProcess>();
  private memory: Promise<Buffer> | undefined;
  private running = 0;
  private spare: PythonProcess | undefined;
  private spareExpiry: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(limits: Partial<CodeLimits> = {}) {
    super();
    this.limits = { ...CODE_LIMITS, ...limits };
  }

  async run(ownerId: string, prepare: () => Promise<CodeJob>, signal: AbortSignal): Promise<CodeResult> {
    signal.throwIfAborted();
    if (this.isClosed || !(await this.turn(ownerId, signal))) return failed('unavailable', 'Too much code waits to be run.');
    try {
      const job = await prepare();
      const refused = job.inputs.find(({ name }) => !isFileName(name));
      if (!refused) return await this.runNow(job, signal);
      return failed('error', `An input has a name that cannot be a file: ${JSON.stringify(refused.name).slice(0, 300)}`);
    } finally {
      this.leave(ownerId);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.spareExpiry);
    for (const each of this.processes) each.kill();
    await Promise.all([...this.processes].map(({ over }) => over));
  }

  private async runNow(job: CodeJob, signal: AbortSignal): Promise<CodeResult> {
    for (let starts = 1; ; starts++) {
      let python: PythonProcess | undefined;
      try {
        python = await unlessAborted(this.taken(), signal);
        await unlessAborted(python.ready, signal);
        return await python.run(job, signal);
      } catch (error) {
        if (!(error instanceof PythonNotStarted)) throw error;
        this.logger.warn(error.message);
        if (this.isClosed || starts >= STARTS_MAX) return failed('unavailable', 'No interpreter could be started.');
      } finally {
        python?.kill();
        void this.keepSpare();
      }
    }
  }

  /** Waits until fewer than `concurrentMax` runs are running. False if too many wait. */
  private async turn(ownerId: string, signal: AbortSignal): Promise<boolean> {
    if (this.running < this.limits.concurrentMax) {
      this.running++;
      return true;
    }
    let answer: boolean | undefined;
    let call = (_: boolean): void => undefined;
    const called = new Promise<boolean>((resolve) => (call = (mayBegin) => resolve((answer = mayBegin))));
    this.waiting.add(ownerId, call);
    if (this.waiting.size > this.limits.waitingMax) this.waiting.giveUp()?.(false);
    return unlessAborted(called, signal).catch((error: unknown) => {
      if (answer) this.leave(ownerId);
      else this.waiting.remove(call);
      throw error;
    });
  }

  /** Gives the place to a waiting run, of each owner in turn. */
  private leave(ownerId: string): void {
    this.waiting.done(ownerId);
    const next = this.waiting.next();
    if (next) next(true);
    else this.running--;
  }

  private async taken(): Promise<PythonProcess> {
    const { spare } = this;
    this.spare = undefined;
    clearTimeout(this.spareExpiry);
    return spare ?? this.started();
  }

  /** @throws PythonNotStarted */
  private async started(): Promise<PythonProcess> {
    const memory = await (this.memory ??= freshMemory(this.limits)).catch((error: unknown) => {
      this.memory = undefined;
      throw error;
    });
    if (this.isClosed) throw new PythonNotStarted('The service ends.');
    const python = new PythonProcess(this.limits, memory);
    this.processes.add(python);
    void python.over.then(() => this.processes.delete(python));
    return python;
  }

  private async keepSpare(): Promise<void> {
    if (this.isClosed || this.spare) return;
    try {
      const spare = await this.started();
      if (this.spare) return spare.kill();
      this.spare = spare;
      const drop = () => {
        if (this.spare === spare) this.spare = undefined;
        spare.kill();
      };
      clearTimeout(this.spareExpiry);
      this.spareExpiry = setTimeout(drop, this.limits.idleMs).unref();
      await spare.ready.catch(drop);
    } catch (error) {
      if (!(error instanceof PythonNotStarted)) throw error;
    }
  }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
