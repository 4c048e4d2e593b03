import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import type { Continuation } from '../conversation/conversation.events.js';
import { Blobs } from '../kernel/blobs.js';
import type { LoopState } from './agent-loop.js';

/** As it is stored, a text within JSON; a longer one is kept beside the log. */
export const INLINE_BYTES_MAX = 64 * 1024;

/** What paused turns go on from. */
@Injectable()
export class Continuations {
  constructor(private readonly blobs: Blobs) {}

  /** @throws BlobsUnavailable */
  async keep(text: string): Promise<Continuation> {
    if (Buffer.byteLength(JSON.stringify(text)) <= INLINE_BYTES_MAX) return { text };
    return { blob: await this.blobs.put(Readable.from([Buffer.from(text)])) };
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall(continuation: Continuation): Promise<LoopState> {
    const text = 'text' in continuation ? continuation.text : await textOf(await this.blobs.get(continuation.blob.sha256));
    return JSON.parse(text) as LoopState;
  }
}
