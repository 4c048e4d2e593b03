import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { BlobMissing, type BlobRef, type Blobs } from '../../kernel/blobs.js';
import { textOf } from '../../dialogue/answering/loop/tool-result.policy.js';
import type { JobId } from './job.events.js';
import { beginningOf, SHOWN_CHARACTERS_MAX } from './job.policy.js';

/** The id makes the bytes this job's alone: they can be deleted without anybody else missing them. */
type Kept = Readonly<{ jobId: JobId; result: unknown }>;

/** Keeps what a job came to. @throws BlobsUnavailable */
export const keepResult = (blobs: Blobs, jobId: JobId, result: unknown): Promise<BlobRef> =>
  blobs.put(Readable.from([Buffer.from(JSON.stringify({ jobId, result: result ?? null } satisfies Kept))]));

/** What a job came to; undefined when it is no longer kept. */
export async function keptResult(blobs: Blobs, { sha256 }: BlobRef): Promise<Readonly<{ value: unknown }> | undefined> {
  try {
    return { value: (JSON.parse(await text(await blobs.get(sha256))) as Kept).result };
  } catch (error) {
    if (error instanceof BlobMissing) return undefined;
    throw error;
  }
}

/** A result as it is where it is short, else the beginning of its text. */
export function shownResult(value: unknown, charactersMax = SHOWN_CHARACTERS_MAX): unknown {
  const whole = textOf(value);
  return whole.length <= charactersMax ? value : beginningOf(whole, charactersMax);
}
