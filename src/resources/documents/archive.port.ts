import type { BlobRef } from '../../kernel/blobs.js';

/** An archive that is kept as a blob, and whose it is. The names of its files begin with `folder`. */
export type KeptArchive = BlobRef & Readonly<{ filename: string; ownerId: string; folder: string }>;

/** A document that was inside of an archive, kept as a blob. Its name is its path. */
export type UnpackedFile = BlobRef & Readonly<{ filename: string; archive: string }>;

/** A file inside of an archive that is not read, and why. */
export type SkippedFile = Readonly<{ path: string; reason: string }>;

/** What came out of archives. Cut: there were more documents than a source can list. */
export type Unpacked = Readonly<{ files: readonly UnpackedFile[]; skipped: readonly SkippedFile[]; isCut: boolean }>;

/** Unpacks archives, with a limit for all of them together; their owners take turns. */
export abstract class Archives {
  /** Refuses a file on disk that is no archive, would be too large unpacked, or holds nothing that can be read. @throws Rejection `document-…` */
  abstract check(filename: string, path: string): Promise<void>;
  /** Keeps the documents inside of the archives, and inside of archives in them. @throws Rejection `document-unreadable`, `document-too-large` */
  abstract unpack(archives: readonly KeptArchive[], signal: AbortSignal): Promise<Unpacked>;
}
