import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { BlobMissing, type BlobRef, type Blobs } from '../../kernel/blobs.js';
import { textOf } from '../../dialogue/answering/loop/tool-result.policy.js';
import type { JobId } from './job.events.js';
import { beginningOf, SHOWN_CHARACTERS_MAX } from './job.policy.js';

/** Contains the job's id, so that no other job has the same blob and it can be deleted with the job. */
type Kept = Readonly<{ jobId: JobId; result: unknown }>;

/** Stores the result of a job. @throws BlobsUnavailable */
export const keepResult = (blobs: Blobs, jobId: JobId, result: unknown): Promise<BlobRef> =>
  blobs.put(Readable.from([Buffer.from(JSON.stringify({ jobId, result: result ?? null } satisfies Kept))]));

/** The result of a job; undefined if it is no longer stored. */
export async function keptResult(blobs: Blobs, { sha256 }: BlobRef): Promise<Readonly<{ value: unknown }> | undefined> {
  try {
    return { value: (JSON.parse(await text(await blobs.get(sha256))) as Kept).result };
  } catch (error) {
    if (error instanceof BlobMissing) return undefined;
    throw error;
  }
}

/** A short result unchanged, otherwise the beginning of its text. */
export function shownResult(value: unknown, charactersMax = SHOWN_CHARACTERS_MAX): unknown {
  const whole = textOf(value);
  return whole.length <= charactersMax ? value : beginningOf(whole, charactersMax);
}
