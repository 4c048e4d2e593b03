import { parentPort } from 'node:worker_threads';
import { Rejection } from '../../kernel/rejection.js';
import type { AttachmentContent } from '../../attachments/attachment-reader.port.js';
import { chunksOf } from '../../sources/chunking.policy.js';
import type { Chunk, Chunking, DocumentFile, Section } from '../../sources/document.port.js';
import type { ParsingLimits } from './limits.js';
import { parseDocument } from './parse-document.js';
import { readAttachment } from './read-attachment.js';

/** What is wanted of a document. */
export type Wanted =
  | Readonly<{ wanted: 'sections' }>
  | Readonly<{ wanted: 'chunks'; chunking: Chunking }>
  | Readonly<{ wanted: 'attachment'; mimeType: string }>;

/** What a thread is asked: one document at a time. */
export type ParsingJob = Readonly<{ file: DocumentFile; limits: ParsingLimits }> & Wanted;

/** What a thread says first. */
export type Ready = 'ready';

export type ParsingReply =
  | Readonly<{ sections: readonly Section[] }>
  | Readonly<{ chunks: readonly Chunk[] }>
  | Readonly<{ attachment: AttachmentContent }>
  | Readonly<{ refused: { code: string; message: string } }>
  | Readonly<{ failed: string }>;

async function answer(job: ParsingJob): Promise<ParsingReply> {
  try {
    const { file, limits } = job;
    if (job.wanted === 'attachment') return { attachment: await readAttachment(file, job.mimeType, limits) };
    const sections = await parseDocument(file, limits);
    return job.wanted === 'chunks' ? { chunks: chunksOf(sections, job.chunking) } : { sections };
  } catch (error) {
    if (error instanceof Rejection) return { refused: { code: error.code, message: error.message } };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on('message', (job: ParsingJob) => {
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});
parentPort?.postMessage('ready' satisfies Ready);
