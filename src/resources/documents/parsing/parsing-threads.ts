import { Worker } from 'node:worker_threads';
import type { ParsingJob, ParsingReply, Ready } from './parsing-messages.js';

/** An idle thread is kept this long. Starting one takes half a second, keeping one takes 100 MB. */
const IDLE_MS = 30_000;

/**
 * The time in which a thread has to load its code and the libraries for a document, also on a busy machine. The time of a document
 * begins after that.
 */
const START_MS_MAX = 30_000;

/** The time in which a terminated thread stops, unless a native call of a library does not return. */
export const STOP_MS_MAX = 500;

/** The interval of memory checks. A thread's limits do not cover memory outside its heap, such as unpacked bytes. */
const MEMORY_POLL_MS = 100;
const MEGABYTE = 1024 * 1024;

const ENTRY = new URL('./parsing-worker.js', import.meta.url);

export type ParsingThreadsOptions = Readonly<{
  /** The maximum heap of a thread. */
  memoryMegabytesMax: number;
  /** The maximum memory of the process. */
  processMegabytesMax: number;
  /** When a document takes this long, a spare thread is started, so that the next need not wait if this thread is stopped. */
  spareAfterMs?: number;
  /** The URL of another program for the threads than the parsers. */
  entry?: string;
}>;

/**
 * Reads documents in threads. Endless parsing is stopped at the deadline. A document that needs too much memory ends only its
 * thread, if the thread can be stopped in time.
 */
export class ParsingThreads {
  private readonly idle: ParsingThread[] = [];

  constructor(
    private readonly options: ParsingThreadsOptions,
    /** Called when the process should be replaced, because a thread cannot be stopped or the process uses too much memory. */
    private readonly onSpent: () => void,
  ) {}

  /** Reads a document in an idle or new thread, which becomes idle again unless it had to be stopped. */
  async ask(job: ParsingJob, signal: AbortSignal): Promise<ParsingReply> {
    const thread = this.idle.pop() ?? this.start();
    const memory = this.watchMemory();
    let deadline: AbortSignal | undefined;
    let spare: NodeJS.Timeout | undefined;
    try {
      await thread.begin(job, AbortSignal.any([signal, AbortSignal.timeout(START_MS_MAX)]));
      spare = this.spareLater();
      deadline = AbortSignal.timeout(job.turnMs);
      const reply = await thread.reply(AbortSignal.any([signal, deadline, memory.isUsedUp]));
      this.rest(thread);
      return reply;
    } catch (error) {
      if (!(await thread.stop()) || memory.isUsedUp.aborted) this.onSpent();
      if (memory.isUsedUp.aborted || isOutOfMemory(error)) return { stopped: 'out-of-memory' };
      if (deadline?.aborted) return { stopped: 'out-of-time' };
      throw error;
    } finally {
      clearTimeout(spare);
      memory.end();
    }
  }

  private watchMemory(): Readonly<{ isUsedUp: AbortSignal; end: () => void }> {
    const usedUp = new AbortController();
    const poll = setInterval(() => {
      if (process.memoryUsage.rss() > this.options.processMegabytesMax * MEGABYTE) usedUp.abort();
    }, MEMORY_POLL_MS).unref();
    return { isUsedUp: usedUp.signal, end: () => clearInterval(poll) };
  }

  private start(): ParsingThread {
    const { entry, memoryMegabytesMax } = this.options;
    return new ParsingThread(entry === undefined ? ENTRY : new URL(entry), memoryMegabytesMax);
  }

  private rest(thread: ParsingThread): void {
    this.idle.push(thread);
    thread.rest(IDLE_MS, () => this.idle.splice(this.idle.indexOf(thread), 1));
  }

  private spareLater(): NodeJS.Timeout | undefined {
    const { spareAfterMs } = this.options;
    if (spareAfterMs === undefined) return undefined;
    return setTimeout(() => {
      if (this.idle.length === 0) this.rest(this.start());
    }, spareAfterMs).unref();
  }
}

type Heard = Readonly<{ said: ParsingReply | Ready }> | Readonly<{ error: unknown }>;

/** A thread with one request at a time. It must be stopped after a request has failed. */
class ParsingThread {
  private readonly worker: Worker;
  private readonly unheard: Heard[] = [];
  private readonly keep = (heard: Heard): void => void this.unheard.push(heard);
  private hear = this.keep;
  private expiry: NodeJS.Timeout | undefined;

  constructor(entry: URL, memoryMegabytesMax: number) {
    const resourceLimits = { maxOldGenerationSizeMb: memoryMegabytesMax };
    this.worker = new Worker(entry, { env: {}, execArgv: [], resourceLimits });
    this.worker.on('message', (said: ParsingReply | Ready) => this.hear({ said }));
    this.worker.on('error', (error) => this.hear({ error }));
    this.worker.on('exit', () => this.hear({ error: new Error('The thread that reads documents ended.') }));
  }

  /** Sends the request. Resolves when the thread begins to read. */
  async begin(job: ParsingJob, signal: AbortSignal): Promise<void> {
    clearTimeout(this.expiry);
    this.worker.ref();
    this.worker.postMessage(job, [job.file.bytes.buffer]);
    await this.next(signal);
  }

  async reply(signal: AbortSignal): Promise<ParsingReply> {
    return (await this.next(signal)) as ParsingReply;
  }

  /** The next message of the thread. */
  private async next(signal: AbortSignal): Promise<ParsingReply | Ready> {
    const heard = this.unheard.shift() ?? (await this.awaited(signal));
    if ('error' in heard) throw heard.error;
    return heard.said;
  }

  private awaited(signal: AbortSignal): Promise<Heard> {
    return new Promise((resolve) => {
      this.hear = (heard) => {
        this.hear = this.keep;
        resolve(heard);
      };
      const giveUp = () => resolve({ error: signal.reason });
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Leaves the thread idle. It ends after `idleMs`, or when it fails. */
  rest(idleMs: number, onEnd: () => void): void {
    const end = () => {
      onEnd();
      void this.stop();
    };
    this.worker.unref();
    this.hear = (heard) => {
      if ('error' in heard) end();
    };
    this.expiry = setTimeout(end, idleMs).unref();
  }

  /** Resolves to whether the thread has stopped in time. */
  async stop(): Promise<boolean> {
    clearTimeout(this.expiry);
    this.hear = () => undefined;
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<boolean>((resolve) => (late = setTimeout(() => resolve(false), STOP_MS_MAX)));
    return Promise.race([this.worker.terminate().then(() => true), tooLate]).finally(() => clearTimeout(late));
  }
}

const isOutOfMemory = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
