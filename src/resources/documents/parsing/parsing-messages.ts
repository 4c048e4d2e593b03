import type { AttachmentContent } from '../attachment-reader.port.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Chunk, Chunking, DocumentFile, Section } from '../document.port.js';
import type { ParsingLimits } from '../limits.js';

/** What is wanted of a document. */
export type Wanted =
  | Readonly<{ wanted: 'sections' }>
  | Readonly<{ wanted: 'chunks'; chunking: Chunking }>
  | Readonly<{ wanted: 'attachment'; mimeType: string }>;

/** What a thread is asked: one document at a time, for so long. */
export type ParsingJob = Readonly<{ file: DocumentFile; limits: ParsingLimits; turnMs: number }> & Wanted;

/** What ends a document's turn before it is read. */
type Stopped = 'out-of-time' | 'out-of-memory';

/** What a thread says first. */
export type Ready = 'ready';

export type ParsingReply =
  | Readonly<{ sections: readonly Section[] }>
  | Readonly<{ chunks: readonly Chunk[] }>
  | Readonly<{ attachment: AttachmentContent }>
  | Readonly<{ refused: { code: string; message: string } }>
  | Readonly<{ stopped: Stopped }>
  | Readonly<{ failed: string }>;

/** A failure in a form that passes between threads and processes. */
export function failureReply(error: unknown): ParsingReply {
  if (error instanceof Rejection) return { refused: { code: error.code, message: error.message } };
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
