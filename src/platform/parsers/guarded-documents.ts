import type { AttachmentContent, AttachmentReader } from '../../attachments/attachment-reader.port.js';
import { Rejection } from '../../kernel/rejection.js';
import { type Chunk, type Chunking, type DocumentFile, Documents, type Section } from '../../sources/document.port.js';
import { GuardedProcess, GuardedProcessFailed } from '../guarded-process/guarded-process.js';
import { attachmentKindOf } from './attachment-kind.js';
import { checkFile, inspectFile } from './inspect-file.js';
import { PARSING_LIMITS, type ParsingLimits } from './limits.js';
import type { ParsingJob, ParsingReply, Wanted } from './parsing-messages.js';
import { needsTooMuchMemory, tooLarge } from './refusals.js';

/** Documents wait for each other: reading one may take a gigabyte. */
const DOCUMENTS_AT_ONCE_MAX = 1;

const ENTRY = new URL(`./documents-program.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/**
 * Reads documents in threads of a process of their own: a large one does not hold up the service, and one that takes memory
 * faster than its thread is stopped takes only that process with it.
 */
export class GuardedDocuments extends Documents implements AttachmentReader {
  private readonly limits: ParsingLimits;
  private readonly process = new GuardedProcess<ParsingJob, ParsingReply>({
    program: { entry: ENTRY },
    inHandMax: DOCUMENTS_AT_ONCE_MAX,
  });

  constructor(limits: Partial<ParsingLimits> = {}) {
    super();
    this.limits = { ...PARSING_LIMITS, ...limits };
  }

  check(filename: string, path: string): Promise<void> {
    return checkFile(filename, path, this.limits);
  }

  async sections(file: DocumentFile, signal: AbortSignal): Promise<readonly Section[]> {
    const reply = await this.ask(file, { wanted: 'sections' }, signal);
    return 'sections' in reply ? reply.sections : [];
  }

  async chunks(file: DocumentFile, chunking: Chunking, signal: AbortSignal): Promise<readonly Chunk[]> {
    const reply = await this.ask(file, { wanted: 'chunks', chunking }, signal);
    return 'chunks' in reply ? reply.chunks : [];
  }

  async mimeTypeOf(filename: string, path: string): Promise<string> {
    return (await inspectFile(filename, path, this.limits, (head) => attachmentKindOf(filename, head))).mimeType;
  }

  async read(file: DocumentFile, mimeType: string, signal: AbortSignal): Promise<AttachmentContent> {
    const reply = await this.ask(file, { wanted: 'attachment', mimeType }, signal);
    if (!('attachment' in reply)) throw new Error('The process that reads documents answered something else.');
    return reply.attachment;
  }

  close(): Promise<void> {
    return this.process.close();
  }

  private async ask(file: DocumentFile, wanted: Wanted, signal: AbortSignal): Promise<ParsingReply> {
    const { filename, bytes } = file;
    if (bytes.byteLength > this.limits.fileBytesMax) {
      throw tooLarge(filename, `it is larger than ${this.limits.fileBytesMax} bytes.`);
    }
    const reply = await this.process.ask({ file, limits: this.limits, ...wanted }, signal).catch((error: unknown) => {
      throw error instanceof GuardedProcessFailed && error.failure === 'died' ? needsTooMuchMemory(filename) : error;
    });
    if ('refused' in reply) throw new Rejection(reply.refused.code, reply.refused.message);
    if ('failed' in reply) throw new Error(`${filename} could not be read.`, { cause: reply.failed });
    return reply;
  }
}
