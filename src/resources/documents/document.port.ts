import { TaskPostponed } from '../../work/tasks/task-runner.port.js';

/** An uploaded file in memory. */
export type DocumentFile = Readonly<{ filename: string; bytes: Uint8Array<ArrayBuffer> }>;

/** A document that waits to be read. Its bytes are loaded only at its turn, and again for a second turn. */
export type WaitingDocument = Readonly<{
  filename: string;
  ownerId: string;
  size: number;
  /** Transfers the bytes to the reader. The caller must not use them again. */
  bytes: () => Promise<Uint8Array<ArrayBuffer>>;
}>;

/** The queue of documents is full. The task is retried later. */
export class DocumentsBusy extends TaskPostponed {
  override readonly name = 'DocumentsBusy';
}

/** Where a text is in a document: under the heading `title`, or on a page of the document called `title`. */
export type Place = Readonly<{ title: string; page?: number }>;

/** The part of a document under one heading or on one page. Its text repeats the heading. */
export type Section = Place & Readonly<{ text: string }>;

/** A piece of a document, small enough to give a model several. The title names every page and heading it comes from. */
export type Chunk = Readonly<{ title: string; text: string; tokens: number }>;

/** A chunk whose size is between these two is neither split nor joined with its neighbour. */
export type Chunking = Readonly<{ maxTokens: number; minTokens: number }>;

/** Changes whenever the same document would yield other chunks. An interrupted ingestion of an older version starts over. */
export const CHUNKING_VERSION = 3;

/** The MIME types of the readable kinds of file. */
export const MEDIA_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  epub: 'application/epub+zip',
  html: 'text/html',
  json: 'application/json',
  md: 'text/markdown',
  mdx: 'text/markdown',
  pdf: 'application/pdf',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  rst: 'text/x-rst',
  txt: 'text/plain',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** The extensions of the readable kinds of file. */
export const DOCUMENT_EXTENSIONS: readonly string[] = Object.keys(MEDIA_TYPES);

export const extensionOf = (filename: string): string => /\.([^./\\]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';

/**
 * Reads documents. Owners take turns. Refuses what it cannot read with a Rejection that names the file:
 * `document-type-not-accepted`, `document-unreadable`, `document-too-large`, `document-too-slow`.
 */
export abstract class Documents {
  /** Refuses a file on disk that is not of the kind its name says or too large unpacked, without reading the whole file. */
  abstract check(filename: string, path: string): Promise<void>;
  /** @throws DocumentsBusy */
  abstract sections(file: WaitingDocument, signal: AbortSignal): Promise<readonly Section[]>;
  /** @throws DocumentsBusy */
  abstract chunks(file: WaitingDocument, chunking: Chunking, signal: AbortSignal): Promise<readonly Chunk[]>;
}
