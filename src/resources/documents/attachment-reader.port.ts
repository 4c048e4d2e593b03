import type { WaitingDocument } from './document.port.js';

/** What a model may look at: an attached picture, or a page of a document. Without bytes it is the attached file itself. */
export type Picture = Readonly<{ mimeType: string; bytes: Uint8Array<ArrayBuffer> | null }>;

/** What an attached file says and shows. */
export type AttachmentContent = Readonly<{
  text: string;
  tokens: number;
  /** There was more text than is kept. */
  isCut: boolean;
  /** Of documents that have pages. */
  pages: number | null;
  /** The picture itself, or the first pages of a document that has any. */
  pictures: readonly Picture[];
}>;

/** Reads what is attached to questions. What cannot be read is refused by a Rejection that names the file: `document-…`. */
export abstract class AttachmentReader {
  /** The MIME type of a file on disk, by its content; refuses what cannot be read without reading it all. */
  abstract mimeTypeOf(filename: string, path: string): Promise<string>;
  /** @throws DocumentsBusy */
  abstract read(file: WaitingDocument, mimeType: string, signal: AbortSignal): Promise<AttachmentContent>;
}
