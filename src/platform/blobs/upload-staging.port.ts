import type { Readable } from 'node:stream';

export type UploadLimits = Readonly<{ fileBytesMax: number; requestBytesMax: number }>;

/** A part of a multipart form. The bytes of a file must be read before the next part arrives. */
export type FormPart =
  | Readonly<{ type: 'field'; fieldname: string; value: unknown }>
  | Readonly<{ type: 'file'; fieldname: string; filename?: string | undefined; file: Readable & { truncated?: boolean } }>;

/** A staged file of a form. `place` counts the files of the form from 0. */
export type StagedFile = Readonly<{
  place: number;
  filename: string;
  path: string;
  sha256: string;
  size: number;
  open(): Readable;
}>;

/** A file that was skipped because it was too large, in an upload that keeps the other files. */
export type OversizedFile = Readonly<{ place: number; filename: string; reason: string }>;

export type ReceivedUpload = Readonly<{
  fields: ReadonlyMap<string, string>;
  files: readonly StagedFile[];
  oversized: readonly OversizedFile[];
}>;

/** `one-by-one`: files keep their names, and one that is too large does not fail the others. */
export type FilesOfUpload = 'as-one' | 'one-by-one';

/**
 * Stages uploads until they are complete. A form that breaks off or is refused leaves nothing here and nothing among the blobs,
 * which are shared by content and could not be deleted again.
 */
export abstract class UploadStaging {
  /**
   * Receives a whole form, runs the work with it, and removes its files afterwards. @throws Rejection `too-large`,
   * `invalid-request`
   */
  abstract receive<T>(
    parts: AsyncIterable<FormPart>,
    work: (upload: ReceivedUpload) => Promise<T>,
    files?: FilesOfUpload,
  ): Promise<T>;
  abstract removeAbandoned(now: Date): Promise<void>;
}
