import type { AttachmentContent, AttachmentReader } from '../attachment-reader.port.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type Chunk, type Chunking, Documents, DocumentsBusy, type Section, type WaitingDocument } from '../document.port.js';
import { GuardedProcess, GuardedProcessFailed, type GuardedProcessOptions } from '../../../platform/sandbox/guarded-process.js';
import { attachmentKindOf } from '../formats/attachment-kind.js';
import { DocumentLane } from '../document-lane.js';
import { checkFile, inspectFile } from '../formats/inspect-file.js';
import { checkPicture } from '../formats/pictures.js';
import { deadlineMsOf, PARSING_LIMITS, type ParsingLimits } from '../limits.js';
import type { ParsingJob, ParsingReply, Wanted } from './parsing-messages.js';
import type { ParsingThreadsOptions } from './parsing-threads.js';
import { needsTooMuchMemory, tooLarge, tooSlow } from '../refusals.js';

const ENTRY = new URL('./documents-program.js', import.meta.url);

/** After this time a short turn may fail and take its thread with it, so a thread for the next document is started. */
const SPARE_AFTER_MS = 200;

/** Keeps a standby process, because a thread that cannot be stopped ends its process, and small documents must not wait long. */
const STANDBY_MS = 60_000;

type Process = GuardedProcess<ParsingJob, ParsingReply>;

/** A process reads one document at a time, which may use all the memory that the process may use. */
function processOf(
  options: Omit<ParsingThreadsOptions, 'processMegabytesMax'>,
  { besideHeapMegabytesMax }: ParsingLimits,
  more: Pick<GuardedProcessOptions, 'standbyMs'> = {},
): Process {
  const processMegabytesMax = options.memoryMegabytesMax + besideHeapMegabytesMax;
  return new GuardedProcess({ program: { entry: ENTRY, options: { ...options, processMegabytesMax } }, inHandMax: 1, ...more });
}

/**
 * Reads documents in threads of separate processes. A large document does not block the service, and one that allocates memory
 * faster than its thread can be stopped crashes only that process.
 *
 * Each document gets a short turn first. If it does not finish, it is read again from the beginning in a long turn, in another
 * process with its own queue. Owners take turns in both queues. In the short queue, owners with documents in the long queue come
 * after the others. So a small document waits at most for one short turn of each other owner and for the turn that is running.
 */
export class GuardedDocuments extends Documents implements AttachmentReader {
  private readonly limits: ParsingLimits;
  private readonly short: Process;
  private readonly long: Process;
  private readonly longTurns = new DocumentLane<ParsingReply>();
  private readonly shortTurns = new DocumentLane<ParsingReply>((ownerId) => this.longTurns.of(ownerId));

  constructor(limits: Partial<ParsingLimits> = {}, parser: Pick<ParsingThreadsOptions, 'entry'> = {}) {
    super();
    this.limits = { ...PARSING_LIMITS, ...limits };
    const { shortTurnMemoryMegabytesMax, memoryMegabytesMax } = this.limits;
    const shortOptions = { ...parser, memoryMegabytesMax: shortTurnMemoryMegabytesMax, spareAfterMs: SPARE_AFTER_MS };
    this.short = processOf(shortOptions, this.limits, { standbyMs: STANDBY_MS });
    this.long = processOf({ ...parser, memoryMegabytesMax }, this.limits);
  }

  check(filename: string, path: string): Promise<void> {
    return checkFile(filename, path, this.limits);
  }

  async sections(file: WaitingDocument, signal: AbortSignal): Promise<readonly Section[]> {
    const reply = await this.ask(file, { wanted: 'sections' }, signal);
    return 'sections' in reply ? reply.sections : [];
  }

  async chunks(file: WaitingDocument, chunking: Chunking, signal: AbortSignal): Promise<readonly Chunk[]> {
    const reply = await this.ask(file, { wanted: 'chunks', chunking }, signal);
    return 'chunks' in reply ? reply.chunks : [];
  }

  async mimeTypeOf(filename: string, path: string): Promise<string> {
    const { kind, mimeType } = await inspectFile(filename, path, this.limits, (head) => attachmentKindOf(filename, head));
    if (kind === 'picture') await checkPicture(filename, mimeType, path);
    return mimeType;
  }

  async read(file: WaitingDocument, mimeType: string, signal: AbortSignal): Promise<AttachmentContent> {
    const reply = await this.ask(file, { wanted: 'attachment', mimeType }, signal);
    if (!('attachment' in reply)) throw new Error('The process that reads documents answered something else.');
    return reply.attachment;
  }

  async close(): Promise<void> {
    await Promise.all([this.short.close(), this.long.close()]);
  }

  private async ask(file: WaitingDocument, wanted: Wanted, signal: AbortSignal): Promise<ParsingReply> {
    const { filename, size } = file;
    if (size > this.limits.fileBytesMax) throw tooLarge(filename, `it is larger than ${this.limits.fileBytesMax} bytes.`);
    const first = await this.shortTurn(file, wanted, signal);
    const reply = 'stopped' in first ? await this.longTurn(file, wanted, signal) : first;
    if ('refused' in reply) throw new Rejection(reply.refused.code, reply.refused.message);
    if ('failed' in reply) throw new Error(`${filename} could not be read.`, { cause: reply.failed });
    return reply;
  }

  private async shortTurn(file: WaitingDocument, wanted: Wanted, signal: AbortSignal): Promise<ParsingReply> {
    if (file.size > this.limits.shortTurnBytesMax) return { stopped: 'out-of-time' };
    const job = this.job(this.short, file, wanted, signal, this.limits.shortTurnMs);
    return this.shortTurns.ask(file.ownerId, signal, job);
  }

  private async longTurn(file: WaitingDocument, wanted: Wanted, signal: AbortSignal): Promise<ParsingReply> {
    const { filename, ownerId, size } = file;
    if (this.longTurns.waiting >= this.limits.longTurnsWaitingMax) throw new DocumentsBusy(`${filename} has to wait.`);
    const turnMs = deadlineMsOf(size, this.limits);
    const reply = await this.longTurns.ask(ownerId, signal, this.job(this.long, file, wanted, signal, turnMs));
    if (!('stopped' in reply)) return reply;
    throw reply.stopped === 'out-of-time' ? tooSlow(filename, turnMs / 1000) : needsTooMuchMemory(filename);
  }

  private job(process: Process, file: WaitingDocument, wanted: Wanted, signal: AbortSignal, turnMs: number) {
    const { limits } = this;
    return async (): Promise<ParsingReply> => {
      const asked = { filename: file.filename, bytes: await file.bytes() };
      try {
        return await process.ask({ file: asked, limits, turnMs, ...wanted }, signal);
      } catch (error) {
        if (error instanceof GuardedProcessFailed && error.failure === 'died') return { stopped: 'out-of-memory' };
        throw error;
      }
    };
  }
}
