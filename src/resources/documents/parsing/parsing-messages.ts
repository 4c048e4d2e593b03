import type { AttachmentContent } from '../attachment-reader.port.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Chunk, Chunking, DocumentFile, Section } from '../document.port.js';
import type { ParsingLimits } from '../limits.js';

/** The requested form of a document's content. */
export type Wanted =
  | Readonly<{ wanted: 'sections' }>
  | Readonly<{ wanted: 'chunks'; chunking: Chunking }>
  | Readonly<{ wanted: 'attachment'; mimeType: string }>;

/** The request to a thread: one document, to be read within `turnMs`. */
export type ParsingJob = Readonly<{ file: DocumentFile; limits: ParsingLimits; turnMs: number }> & Wanted;

/** The limit that ended a document's turn. */
type Stopped = 'out-of-time' | 'out-of-memory';

/** The first answer to a request: the thread has loaded what it needs, and begins to read. */
export type Ready = 'ready';

export type ParsingReply =
  | Readonly<{ sections: readonly Section[] }>
  | Readonly<{ chunks: readonly Chunk[] }>
  | Readonly<{ attachment: AttachmentContent }>
  | Readonly<{ refused: { code: string; message: string } }>
  | Readonly<{ stopped: Stopped }>
  | Readonly<{ failed: string }>;

/** A failure in a form that can be sent between threads and processes. */
export function failureReply(error: unknown): ParsingReply {
  if (error instanceof Rejection) return { refused: { code: error.code, message: error.message } };
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
