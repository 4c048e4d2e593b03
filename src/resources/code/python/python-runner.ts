import { Logger } from '@nestjs/common';
import { CODE_LIMITS, type CodeLimits } from '../code-limits.js';
import { type CodeJob, type CodeResult, CodeRunner } from '../code-runner.port.js';
import { isFileName } from '../file-name.policy.js';
import { PythonNotStarted, PythonProcess } from './python-process.js';

/** An interpreter that does not start may start the next time: the machine may be busy. */
const STARTS_MAX = 2;

const failed = (kind: 'error' | 'unavailable', text: string): CodeResult => ({
  stdout: '',
  stderr: '',
  files: [],
  failure: { kind, text },
});

/**
 * Runs Python in interpreters that are processes, each for one run. While runs are wanted one interpreter more is kept ready, because
 * to start one takes seconds; without runs none is kept.
 */
export class PythonRunner extends CodeRunner {
  private readonly logger = new Logger(PythonRunner.name);
  private readonly limits: CodeLimits;
  private readonly waiting: (() => void)[] = [];
  private readonly processes = new Set<PythonProcess>();
  private running = 0;
  private spare: PythonProcess | undefined;
  private spareExpiry: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    limits: Partial<CodeLimits> = {},
    private readonly start = (own: CodeLimits) => new PythonProcess(own),
  ) {
    super();
    this.limits = { ...CODE_LIMITS, ...limits };
  }

  async run(job: CodeJob, signal: AbortSignal): Promise<CodeResult> {
    signal.throwIfAborted();
    const refused = job.inputs.find(({ name }) => !isFileName(name));
    if (refused)
      return failed('error', `An input has a name that cannot be a file: ${JSON.stringify(refused.name).slice(0, 300)}`);
    if (this.isClosed || this.waiting.length >= this.limits.waitingMax)
      return failed('unavailable', 'Too much code waits to be run.');
    await this.turn(signal);
    try {
      return await this.runNow(job, signal);
    } finally {
      this.leave();
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.spareExpiry);
    await Promise.all([...this.processes].map((each) => each.close()));
  }

  private async runNow(job: CodeJob, signal: AbortSignal): Promise<CodeResult> {
    for (let starts = 1; ; starts++) {
      const python = this.taken();
      try {
        await unlessAborted(python.ready, signal);
        return await python.run(job, signal);
      } catch (error) {
        if (!(error instanceof PythonNotStarted)) throw error;
        this.logger.warn(error.message);
        if (this.isClosed || starts >= STARTS_MAX) return failed('unavailable', 'No interpreter could be started.');
      } finally {
        python.kill();
        this.processes.delete(python);
        this.keepSpare();
      }
    }
  }

  /** Waits for a place among those that run. */
  private async turn(signal: AbortSignal): Promise<void> {
    if (this.running < this.limits.concurrentMax) {
      this.running++;
      return;
    }
    let enter = (): void => undefined;
    const called = new Promise<void>((resolve) => this.waiting.push((enter = resolve)));
    await unlessAborted(called, signal).catch((error: unknown) => {
      const place = this.waiting.indexOf(enter);
      if (place === -1) this.leave();
      else this.waiting.splice(place, 1);
      throw error;
    });
  }

  /** The place goes to the run that has waited longest. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running--;
  }

  private taken(): PythonProcess {
    const { spare } = this;
    this.spare = undefined;
    clearTimeout(this.spareExpiry);
    return spare ?? this.started();
  }

  private started(): PythonProcess {
    const python = this.start(this.limits);
    this.processes.add(python);
    return python;
  }

  private keepSpare(): void {
    if (this.isClosed || this.spare) return;
    const spare = (this.spare = this.started());
    const drop = () => {
      spare.kill();
      this.processes.delete(spare);
      if (this.spare === spare) this.spare = undefined;
    };
    spare.ready.catch(drop);
    this.spareExpiry = setTimeout(drop, this.limits.idleMs).unref();
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
