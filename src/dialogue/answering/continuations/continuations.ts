import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import type { Continuation } from '../../conversation/conversation.events.js';
import { Blobs } from '../../../kernel/blobs.js';

/** Maximum size of a continuation, as a JSON string, that an event contains. A larger one is stored as a blob. */
export const INLINE_BYTES_MAX = 64 * 1024;

/** Contains the turn's id, so that equal continuations of two turns are different blobs and are deleted separately. */
type Own = Readonly<{ turnId: string; text: string }>;

/** Stores the continuations of paused turns: the loop states from which they resume. */
@Injectable()
export class Continuations {
  constructor(private readonly blobs: Blobs) {}

  /** @throws BlobsUnavailable */
  async keep(turnId: string, text: string): Promise<Continuation> {
    if (Buffer.byteLength(JSON.stringify(text)) <= INLINE_BYTES_MAX) return { text };
    const own = JSON.stringify({ turnId, text } satisfies Own);
    return { blob: await this.blobs.put(Readable.from([Buffer.from(own)])), isOwn: true };
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall<State>(continuation: Continuation): Promise<State> {
    if ('text' in continuation) return JSON.parse(continuation.text) as State;
    const stored = await textOf(await this.blobs.get(continuation.blob.sha256));
    return JSON.parse(continuation.isOwn ? (JSON.parse(stored) as Own).text : stored) as State;
  }

  /** Deletes the blob of a continuation that no run needs any more. @throws BlobsUnavailable */
  drop(sha256: string): Promise<void> {
    return this.blobs.delete(sha256);
  }
}
