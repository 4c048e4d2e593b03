import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BlobRef, Blobs } from './blobs.js';

/** Maximum size of a value, as JSON, that an event contains. A larger value is stored as a blob. */
export const INLINE_BYTES_MAX = 64 * 1024;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** What an event contains of a value. */
export type Kept<Value> = Readonly<{ inline: Value } | { blob: BlobRef }>;

/**
 * Values of events that are stored as blobs if they are large. A blob contains who owns it, so that equal values of two owners are
 * different blobs and each is deleted with its owner.
 */
export class OwnBlobs<Value = unknown> {
  /** @param field the field of the blob's content that holds the value, beside the fields of the owner */
  constructor(
    private readonly blobs: Blobs,
    private readonly field: string,
  ) {}

  /** @throws BlobsUnavailable */
  async keep<Own extends Value>(owner: Readonly<Record<string, string | number>>, value: Own): Promise<Kept<Own>> {
    return jsonBytes(value) <= INLINE_BYTES_MAX ? { inline: value } : { blob: await this.put(owner, value) };
  }

  /** Stores a value of any size as a blob. @throws BlobsUnavailable */
  put(owner: Readonly<Record<string, string | number>>, value: Value): Promise<BlobRef> {
    return this.blobs.put(Readable.from([Buffer.from(JSON.stringify({ ...owner, [this.field]: value }))]));
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall({ sha256 }: BlobRef): Promise<Value> {
    return (JSON.parse(await text(await this.blobs.get(sha256))) as Record<string, Value>)[this.field]!;
  }
}
