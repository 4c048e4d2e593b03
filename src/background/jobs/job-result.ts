import { BlobMissing, type BlobRef, type Blobs } from '../../kernel/blobs.js';
import { OwnBlobs } from '../../kernel/own-blobs.js';
import { textOf } from '../../dialogue/answering/loop/tool-result.policy.js';
import type { JobId } from './job.events.js';
import { shortened } from '../../kernel/cut-text.js';
import { SHOWN_CHARACTERS_MAX } from './job.policy.js';

const ownBlobs = (blobs: Blobs) => new OwnBlobs(blobs, 'result');

/** Stores the result of a job. @throws BlobsUnavailable */
export const keepResult = (blobs: Blobs, jobId: JobId, result: unknown): Promise<BlobRef> =>
  ownBlobs(blobs).put({ jobId }, result ?? null);

/** The result of a job; undefined if it is no longer stored. */
export async function keptResult(blobs: Blobs, result: BlobRef): Promise<Readonly<{ value: unknown }> | undefined> {
  try {
    return { value: await ownBlobs(blobs).recall(result) };
  } catch (error) {
    if (error instanceof BlobMissing) return undefined;
    throw error;
  }
}

/** A short result unchanged, otherwise the beginning of its text. */
export function shownResult(value: unknown, charactersMax = SHOWN_CHARACTERS_MAX): unknown {
  const whole = textOf(value);
  return whole.length <= charactersMax ? value : shortened(whole, charactersMax);
}
