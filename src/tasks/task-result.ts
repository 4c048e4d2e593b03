import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Blobs } from '../kernel/blobs.js';
import type { TaskResult } from './task.events.js';
import { RESULT_INLINE_BYTES_MAX } from './task.policy.js';

/** Keeps a result in the event while it is small, else as a blob. */
export async function storeResult(blobs: Blobs, result: unknown): Promise<TaskResult> {
  const json = JSON.stringify(result);
  if (Buffer.byteLength(json) <= RESULT_INLINE_BYTES_MAX) return { inline: result };
  return { blob: await blobs.put(Readable.from([Buffer.from(json)])) };
}

/** @throws BlobMissing */
export async function loadResult(blobs: Blobs, result: TaskResult): Promise<unknown> {
  if ('inline' in result) return result.inline;
  return JSON.parse(await text(await blobs.get(result.blob.sha256))) as unknown;
}
