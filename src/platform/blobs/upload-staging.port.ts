import type { Readable } from 'node:stream';

export type UploadLimits = Readonly<{ fileBytesMax: number; requestBytesMax: number }>;

/** A part of a form as it comes in: a file's bytes have to be read before the next part comes. */
export type FormPart =
  | Readonly<{ type: 'field'; fieldname: string; value: unknown }>
  | Readonly<{ type: 'file'; fieldname: string; filename?: string | undefined; file: Readable & { truncated?: boolean } }>;

/** A file of a form on disk; `place` counts the form's files from 0. */
export type StagedFile = Readonly<{
  place: number;
  filename: string;
  path: string;
  sha256: string;
  size: number;
  open(): Readable;
}>;

/** A file that was let go because it was too large, where the others were wanted all the same. */
export type OversizedFile = Readonly<{ place: number; filename: string; reason: string }>;

export type ReceivedUpload = Readonly<{
  fields: ReadonlyMap<string, string>;
  files: readonly StagedFile[];
  oversized: readonly OversizedFile[];
}>;

/** `one-by-one`: files keep the names they came with, and one that is too large does not spoil the others. */
export type FilesOfUpload = 'as-one' | 'one-by-one';

/**
 * Where uploads wait until they are whole. A form that breaks off, or is refused, leaves nothing: neither here nor among the
 * blobs, which are shared by content and so could not be taken back.
 */
export abstract class UploadStaging {
  /** Hands the whole form over, and removes its files when the work with it is done. @throws Rejection `too-large`, `invalid-request` */
  abstract receive<T>(
    parts: AsyncIterable<FormPart>,
    work: (upload: ReceivedUpload) => Promise<T>,
    files?: FilesOfUpload,
  ): Promise<T>;
  abstract removeAbandoned(now: Date): Promise<void>;
}
