import { parentPort } from 'node:worker_threads';
import { Rejection } from '../../kernel/rejection.js';
import { chunksOf } from '../../sources/chunking.policy.js';
import type { Chunk, Chunking, DocumentFile, Section } from '../../sources/document.port.js';
import type { ParsingLimits } from './limits.js';
import { parseDocument } from './parse-document.js';

/** What a thread is asked: one document at a time. */
export type ParsingJob = Readonly<{ file: DocumentFile; limits: ParsingLimits; chunking: Chunking | undefined }>;

/** What a thread says first. */
export type Ready = 'ready';

export type ParsingReply =
  | Readonly<{ sections: readonly Section[] }>
  | Readonly<{ chunks: readonly Chunk[] }>
  | Readonly<{ refused: { code: string; message: string } }>
  | Readonly<{ failed: string }>;

async function answer({ file, limits, chunking }: ParsingJob): Promise<ParsingReply> {
  try {
    const sections = await parseDocument(file, limits);
    return chunking ? { chunks: chunksOf(sections, chunking) } : { sections };
  } catch (error) {
    if (error instanceof Rejection) return { refused: { code: error.code, message: error.message } };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

parentPort?.on('message', (job: ParsingJob) => {
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});
parentPort?.postMessage('ready' satisfies Ready);
