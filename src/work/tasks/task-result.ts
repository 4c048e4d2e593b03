import { text } from 'node:stream/consumers';
import type { Blobs } from '../../kernel/blobs.js';
import { OwnBlobs } from '../../kernel/own-blobs.js';
import type { TaskId, TaskResult } from './task.events.js';

const ownBlobs = (blobs: Blobs) => new OwnBlobs(blobs, 'result');

/**
 * Stores the result of an attempt in the event if it is small, else as a blob. Each attempt has its own blob, so that one whose end
 * is refused can delete it.
 */
export async function storeResult(blobs: Blobs, taskId: TaskId, attempt: number, result: unknown): Promise<TaskResult> {
  const kept = await ownBlobs(blobs).keep({ taskId, attempt }, result);
  return 'blob' in kept ? { ...kept, isOwn: true } : kept;
}

/** @throws BlobMissing */
export async function loadResult(blobs: Blobs, stored: TaskResult): Promise<unknown> {
  if ('inline' in stored) return stored.inline;
  if (stored.isOwn) return ownBlobs(blobs).recall(stored.blob);
  return JSON.parse(await text(await blobs.get(stored.blob.sha256))) as unknown;
}

/** Deletes the result of an attempt whose end was refused. @throws BlobsUnavailable */
export async function dropResult(blobs: Blobs, stored: TaskResult): Promise<void> {
  if ('blob' in stored) await blobs.delete(stored.blob.sha256);
}
