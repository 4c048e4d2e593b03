import { text as textOf } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import type { Continuation } from '../../conversation/conversation.events.js';
import { Blobs } from '../../../kernel/blobs.js';
import { OwnBlobs } from '../../../kernel/own-blobs.js';

/** Stores the continuations of paused turns: the loop states from which they resume. */
@Injectable()
export class Continuations {
  private readonly own: OwnBlobs<string>;

  constructor(private readonly blobs: Blobs) {
    this.own = new OwnBlobs(blobs, 'text');
  }

  /** @throws BlobsUnavailable */
  async keep(turnId: string, text: string): Promise<Continuation> {
    const kept = await this.own.keep({ turnId }, text);
    return 'blob' in kept ? { ...kept, isOwn: true } : { text };
  }

  /** @throws BlobMissing, BlobsUnavailable */
  async recall<State>(continuation: Continuation): Promise<State> {
    if ('text' in continuation) return JSON.parse(continuation.text) as State;
    const { blob, isOwn } = continuation;
    return JSON.parse(isOwn ? await this.own.recall(blob) : await textOf(await this.blobs.get(blob.sha256))) as State;
  }

  /** Deletes the blob of a continuation that no run needs any more. @throws BlobsUnavailable */
  drop(sha256: string): Promise<void> {
    return this.blobs.delete(sha256);
  }
}
