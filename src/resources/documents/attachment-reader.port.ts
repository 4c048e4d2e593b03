import type { WaitingDocument } from './document.port.js';

/** A picture for a model: an attached picture, or a page of a document. `bytes` is null if it is the attached file itself. */
export type Picture = Readonly<{ mimeType: string; bytes: Uint8Array<ArrayBuffer> | null }>;

/** The text and the pictures of an attached file. */
export type AttachmentContent = Readonly<{
  text: string;
  tokens: number;
  /** Whether the file has more text than is stored. */
  isCut: boolean;
  /** The number of pages, if the document has pages. */
  pages: number | null;
  /** The attached picture, or the first pages of a document that has pages. */
  pictures: readonly Picture[];
}>;

/** Reads files attached to questions. Refuses what it cannot read with a Rejection `document-…` that names the file. */
export abstract class AttachmentReader {
  /**
   * The MIME type of a file on disk, by its content. Refuses files that are recognizably unreadable, without reading all of them.
   */
  abstract mimeTypeOf(filename: string, path: string): Promise<string>;
  /** @throws DocumentsBusy */
  abstract read(file: WaitingDocument, mimeType: string, signal: AbortSignal): Promise<AttachmentContent>;
}
