import { Worker } from 'node:worker_threads';
import type { ParsingJob, ParsingReply, Ready } from './parsing-messages.js';
import { needsTooMuchMemory, tooSlow } from './refusals.js';

/** An idle thread is kept this long: starting one takes half a second, keeping one takes 100 MB. */
const IDLE_MS = 30_000;

/** A thread has read its code in by then, also on a machine that is busy; a document's own time begins after. */
const START_MS_MAX = 30_000;

/** Under test this file runs from its source, and a thread has to be taught TypeScript first. */
const FROM_SOURCE = import.meta.url.endsWith('.ts');
const ENTRY = new URL(FROM_SOURCE ? './parsing-worker.ts' : './parsing-worker.js', import.meta.url);
const EXEC_ARGV = FROM_SOURCE ? ['--import', new URL('../../../test/support/typescript.js', import.meta.url).href] : [];

/**
 * Reads documents in threads: one without an end is stopped at its deadline, and one that eats memory takes only its thread with
 * it, if the thread can be stopped in time.
 */
export class ParsingThreads {
  private readonly idle: ParsingThread[] = [];

  /** The thread goes back to rest, unless it had to be stopped. @throws Rejection */
  async ask(job: ParsingJob, signal: AbortSignal): Promise<ParsingReply> {
    const { deadlineMs, memoryMegabytesMax } = job.limits;
    const thread = this.idle.pop() ?? new ParsingThread(memoryMegabytesMax);
    let deadline: AbortSignal | undefined;
    try {
      await thread.started(AbortSignal.any([signal, AbortSignal.timeout(START_MS_MAX)]));
      deadline = AbortSignal.timeout(deadlineMs);
      const reply = await thread.ask(job, AbortSignal.any([signal, deadline]));
      this.idle.push(thread);
      thread.rest(IDLE_MS, () => this.idle.splice(this.idle.indexOf(thread), 1));
      return reply;
    } catch (error) {
      await thread.stop();
      if (deadline?.aborted) throw tooSlow(job.file.filename, deadlineMs / 1000);
      throw isOutOfMemory(error) ? needsTooMuchMemory(job.file.filename) : error;
    }
  }
}

type Heard = Readonly<{ said: ParsingReply | Ready }> | Readonly<{ error: unknown }>;

/** One thread: it is asked one thing at a time, and is of no use any more once that failed. */
class ParsingThread {
  private readonly worker: Worker;
  private hear: (heard: Heard) => void = () => undefined;
  private isStarted = false;
  private expiry: NodeJS.Timeout | undefined;

  constructor(memoryMegabytesMax: number) {
    const resourceLimits = { maxOldGenerationSizeMb: memoryMegabytesMax };
    this.worker = new Worker(ENTRY, { env: {}, execArgv: EXEC_ARGV, resourceLimits });
    this.worker.on('message', (said: ParsingReply | Ready) => this.hear({ said }));
    this.worker.on('error', (error) => this.hear({ error }));
    this.worker.on('exit', () => this.hear({ error: new Error('The thread that reads documents ended.') }));
  }

  async started(signal: AbortSignal): Promise<void> {
    if (!this.isStarted) await this.next(signal);
    this.isStarted = true;
  }

  async ask(job: ParsingJob, signal: AbortSignal): Promise<ParsingReply> {
    clearTimeout(this.expiry);
    this.worker.ref();
    this.worker.postMessage(job, [job.file.bytes.buffer]);
    return (await this.next(signal)) as ParsingReply;
  }

  /** What the thread says next. */
  private async next(signal: AbortSignal): Promise<ParsingReply | Ready> {
    const heard = await new Promise<Heard>((resolve) => {
      this.hear = resolve;
      const giveUp = () => resolve({ error: signal.reason });
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, { once: true });
    });
    if ('error' in heard) throw heard.error;
    return heard.said;
  }

  /** Ends after a while, or when something goes wrong meanwhile. */
  rest(idleMs: number, onEnd: () => void): void {
    const end = () => {
      onEnd();
      void this.stop();
    };
    this.worker.unref();
    this.hear = end;
    this.expiry = setTimeout(end, idleMs).unref();
  }

  async stop(): Promise<void> {
    clearTimeout(this.expiry);
    this.hear = () => undefined;
    await this.worker.terminate();
  }
}

const isOutOfMemory = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
