import { TaskPostponed } from '../../work/tasks/task-runner.port.js';

/** An uploaded file in memory. */
export type DocumentFile = Readonly<{ filename: string; bytes: Uint8Array<ArrayBuffer> }>;

/** A document that waits to be read, and whose it is. Its bytes are asked for when its turn has come, and again for another turn. */
export type WaitingDocument = Readonly<{
  filename: string;
  ownerId: string;
  size: number;
  /** They are handed over: the caller must not use them again. */
  bytes: () => Promise<Uint8Array<ArrayBuffer>>;
}>;

/** As many documents as may wait for being read do so: this one is to come again later. */
export class DocumentsBusy extends TaskPostponed {
  override readonly name = 'DocumentsBusy';
}

/** Where a text stands in a document: under a heading, or on a page of the document with that title. */
export type Place = Readonly<{ title: string; page?: number }>;

/** A part of a document that stands under one heading or on one page; its text repeats the heading. */
export type Section = Place & Readonly<{ text: string }>;

/** A piece of a document, small enough to hand to a model together with others. The title names every page and heading it comes from. */
export type Chunk = Readonly<{ title: string; text: string; tokens: number }>;

/** Between these two a chunk is neither split nor joined with its neighbour. */
export type Chunking = Readonly<{ maxTokens: number; minTokens: number }>;

/** Changes whenever the same document would give other chunks: an interrupted ingestion then begins anew. */
export const CHUNKING_VERSION = 3;

/** The MIME types of the kinds of file that can be read. */
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

/** These kinds, by the ending of a file's name. */
export const DOCUMENT_EXTENSIONS: readonly string[] = Object.keys(MEDIA_TYPES);

export const extensionOf = (filename: string): string => /\.([^./\\]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';

/**
 * Reads documents; their owners take turns. What cannot be read is refused by a Rejection that names the file:
 * `document-type-not-accepted`, `document-unreadable`, `document-too-large`, `document-too-slow`.
 */
export abstract class Documents {
  /** Refuses a file on disk that is not of the kind its name says, or would be too large once unpacked, without reading it all. */
  abstract check(filename: string, path: string): Promise<void>;
  /** @throws DocumentsBusy */
  abstract sections(file: WaitingDocument, signal: AbortSignal): Promise<readonly Section[]>;
  /** @throws DocumentsBusy */
  abstract chunks(file: WaitingDocument, chunking: Chunking, signal: AbortSignal): Promise<readonly Chunk[]>;
}
