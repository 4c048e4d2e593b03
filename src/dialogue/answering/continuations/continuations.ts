import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import type { Continuation } from '../../conversation/conversation.events.js';
import { Blobs } from '../../../kernel/blobs.js';

/** As it is stored, a text within JSON; a longer one is kept beside the log. */
export const INLINE_BYTES_MAX = 64 * 1024;

/** Turns that go on from the same are kept apart: what is kept of each goes with it. */
type Own = Readonly<{ turnId: string; text: string }>;

/** What paused turns go on from. */
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

  /** Deletes it: no run continues from it any more. @throws BlobsUnavailable */
  drop(sha256: string): Promise<void> {
    return this.blobs.delete(sha256);
  }
}
