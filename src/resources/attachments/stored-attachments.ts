import { buffer, text as textOf } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { type BlobRef, Blobs } from '../../kernel/blobs.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { ANSWER_PATIENCE_MS, Streams } from '../../kernel/event-sourcing/streams.js';
import { type Attachment, attachment, attachmentNotFound } from './attachment.decider.js';
import { attachmentStream } from './attachment.events.js';
import { AttachmentShelf, type ReadyAttachment } from './attachment-shelf.port.js';

/** Reads attachments from their streams, so that a caller who has seen the task succeed can use the attachment at once. */
@Injectable()
export class StoredAttachments extends AttachmentShelf {
  constructor(
    private readonly streams: Streams,
    private readonly blobs: Blobs,
  ) {
    super();
  }

  async pick(ids: readonly string[], userIds: readonly string[], uploadedWith?: string): Promise<readonly ReadyAttachment[]> {
    const picked = await this.states(ids);
    return picked.map((state) => {
      if (!state.stored || !userIds.includes(state.stored.ownerId)) throw attachmentNotFound();
      if (uploadedWith !== undefined && state.stored.accessTokenId !== uploadedWith) throw attachmentNotFound();
      if (state.failed) throw new Rejection('attachment-failed', `An attachment could not be read: ${state.failed.reason}`);
      const ready = readyOf(state);
      if (!ready) throw new Rejection('attachment-not-ready', `The attachment ${state.stored.filename} is still being read.`);
      return ready;
    });
  }

  async recall(ids: readonly string[]): Promise<readonly ReadyAttachment[]> {
    const recalled = await this.streams.retryWhileUnavailable(ANSWER_PATIENCE_MS, () => this.states(ids));
    return recalled.flatMap((state) => readyOf(state) ?? []);
  }

  async textOf({ text }: ReadyAttachment): Promise<string> {
    return 'text' in text ? text.text : textOf(await this.blobs.get(text.blob.sha256));
  }

  async bytesOf({ sha256 }: BlobRef): Promise<Buffer> {
    return buffer(await this.blobs.get(sha256));
  }

  private states(ids: readonly string[]): Promise<readonly Attachment[]> {
    return Promise.all(
      [...new Set(ids)].map(async (id) => {
        if (!isId(id)) return attachment.initial;
        return (await this.streams.fold(attachmentStream(id), attachment)).state;
      }),
    );
  }
}

function readyOf({ stored, parsed }: Attachment): ReadyAttachment | undefined {
  if (!stored || !parsed) return undefined;
  const { attachmentId, filename, mimeType, blob } = stored;
  const { text, tokens, isCut, pages, pictures } = parsed;
  return { attachmentId, filename, mimeType, blob, text, tokens, isCut, pages, pictures };
}
