import { Worker } from 'node:worker_threads';
import { Rejection } from '../../kernel/rejection.js';
import type { AttachmentContent, AttachmentReader } from '../../attachments/attachment-reader.port.js';
import { type Chunk, type Chunking, type DocumentFile, Documents, type Section } from '../../sources/document.port.js';
import { attachmentKindOf } from './attachment-kind.js';
import { PARSING_LIMITS, type ParsingLimits } from './limits.js';
import { checkFile, inspectFile } from './parse-document.js';
import type { ParsingJob, ParsingReply, Ready, Wanted } from './parsing-worker.js';
import { tooLarge, tooSlow } from './refusals.js';

/** Documents wait for a thread, so this many are in memory at once. */
const THREADS_MAX = 1;

/** An idle thread is kept this long: starting one takes half a second, keeping one takes 100 MB. */
const IDLE_MS = 30_000;

/** A thread has read its code in by then, also on a machine that is busy; a document's own time begins after. */
const START_MS_MAX = 30_000;

/** Under test this file runs from its source, and a thread has to be taught TypeScript first. */
const FROM_SOURCE = import.meta.url.endsWith('.ts');
const ENTRY = new URL(FROM_SOURCE ? './parsing-worker.ts' : './parsing-worker.js', import.meta.url);
const EXEC_ARGV = FROM_SOURCE ? ['--import', new URL('../../../test/support/typescript.js', import.meta.url).href] : [];

/**
 * Reads documents in threads of their own: a large one does not hold up the process, one without an end is stopped at its
 * deadline, and one that eats memory takes only its thread with it.
 */
export class ParsingThreads extends Documents implements AttachmentReader {
  private readonly limits: ParsingLimits;
  private readonly idle: ParsingThread[] = [];
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(limits: Partial<ParsingLimits> = {}) {
    super();
    this.limits = { ...PARSING_LIMITS, ...limits };
  }

  check(filename: string, path: string): Promise<void> {
    return checkFile(filename, path, this.limits);
  }

  async sections(file: DocumentFile, signal: AbortSignal): Promise<readonly Section[]> {
    const reply = await this.run(file, { wanted: 'sections' }, signal);
    return 'sections' in reply ? reply.sections : [];
  }

  async chunks(file: DocumentFile, chunking: Chunking, signal: AbortSignal): Promise<readonly Chunk[]> {
    const reply = await this.run(file, { wanted: 'chunks', chunking }, signal);
    return 'chunks' in reply ? reply.chunks : [];
  }

  async mimeTypeOf(filename: string, path: string): Promise<string> {
    return (await inspectFile(filename, path, this.limits, (head) => attachmentKindOf(filename, head))).mimeType;
  }

  async read(file: DocumentFile, mimeType: string, signal: AbortSignal): Promise<AttachmentContent> {
    const reply = await this.run(file, { wanted: 'attachment', mimeType }, signal);
    if (!('attachment' in reply)) throw new Error('The thread that reads documents answered something else.');
    return reply.attachment;
  }

  async close(): Promise<void> {
    await Promise.all(this.idle.splice(0).map((thread) => thread.stop()));
  }

  private async run(file: DocumentFile, wanted: Wanted, signal: AbortSignal): Promise<ParsingReply> {
    if (file.bytes.byteLength > this.limits.fileBytesMax) {
      throw tooLarge(file.filename, `it is larger than ${this.limits.fileBytesMax} bytes.`);
    }
    await this.turn();
    try {
      signal.throwIfAborted();
      const reply = await this.ask({ file, limits: this.limits, ...wanted }, signal);
      if ('refused' in reply) throw new Rejection(reply.refused.code, reply.refused.message);
      if ('failed' in reply) throw new Error(`${file.filename} could not be read.`, { cause: reply.failed });
      return reply;
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }

  private async turn(): Promise<void> {
    if (this.running >= THREADS_MAX) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running++;
  }

  /** One question to one thread. The thread goes back to rest, unless it had to be stopped. */
  private async ask(job: ParsingJob, signal: AbortSignal): Promise<ParsingReply> {
    const thread = this.idle.pop() ?? new ParsingThread(this.limits.memoryMegabytesMax);
    const { deadlineMs } = this.limits;
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
      throw isOutOfMemory(error) ? tooLarge(job.file.filename, 'it needs too much memory.') : error;
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
