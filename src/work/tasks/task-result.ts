import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Blobs } from '../../kernel/blobs.js';
import type { TaskId, TaskResult } from './task.events.js';
import { RESULT_INLINE_BYTES_MAX } from './task.policy.js';

/**
 * The blob of a result contains the task id, so that equal results of two tasks are two blobs and each is deleted with its task.
 */
type Own = Readonly<{ taskId: TaskId; result: unknown }>;

/** Stores a result in the event if it is small, else as a blob. */
export async function storeResult(blobs: Blobs, taskId: TaskId, result: unknown): Promise<TaskResult> {
  if (Buffer.byteLength(JSON.stringify(result)) <= RESULT_INLINE_BYTES_MAX) return { inline: result };
  const own = JSON.stringify({ taskId, result } satisfies Own);
  return { blob: await blobs.put(Readable.from([Buffer.from(own)])), isOwn: true };
}

/** @throws BlobMissing */
export async function loadResult(blobs: Blobs, stored: TaskResult): Promise<unknown> {
  if ('inline' in stored) return stored.inline;
  const json = JSON.parse(await text(await blobs.get(stored.blob.sha256))) as unknown;
  return stored.isOwn ? (json as Own).result : json;
}
