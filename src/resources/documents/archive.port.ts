import type { BlobRef } from '../../kernel/blobs.js';

/** An archive that is stored as a blob. The names of the files unpacked from it begin with `folder`. */
export type KeptArchive = BlobRef & Readonly<{ filename: string; ownerId: string; folder: string }>;

/** A document unpacked from an archive and stored as a blob. Its name is its path. */
export type UnpackedFile = BlobRef & Readonly<{ filename: string; archive: string }>;

/** A file in an archive that is not read, and the reason. */
export type SkippedFile = Readonly<{ path: string; reason: string }>;

/** The result of unpacking archives. `isCut`: they hold more documents than a source can list. */
export type Unpacked = Readonly<{ files: readonly UnpackedFile[]; skipped: readonly SkippedFile[]; isCut: boolean }>;

/** Unpacks archives. Limits hold for all archives of a call together. Owners take turns. */
export abstract class Archives {
  /**
   * Refuses a file on disk that is not an archive, would be too large unpacked, or holds no document that can be read.
   * @throws Rejection `document-…`
   */
  abstract check(filename: string, path: string): Promise<void>;
  /**
   * Stores the documents in the archives, and in archives inside them, as blobs.
   * @throws Rejection `document-unreadable`, `document-too-large`
   */
  abstract unpack(archives: readonly KeptArchive[], signal: AbortSignal): Promise<Unpacked>;
}
