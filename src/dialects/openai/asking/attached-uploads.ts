import { Injectable } from '@nestjs/common';
import { Rejection } from '../../../kernel/rejection.js';
import { Timing } from '../../../kernel/timing.js';
import { AttachmentUploads } from '../../../resources/attachments/attachment-uploads.port.js';
import { AttachmentShelf } from '../../../resources/attachments/attachment-shelf.port.js';
import { type Caller, ownerOf } from '../../../resources/identity/caller.js';
import type { AttachedPart } from './parts.policy.js';
import { refused } from './refusals.policy.js';

/** The maximum time that a question waits until its files are read. */
export const READING_MS_MAX = 60_000;
const READING_POLL_MS = 50;

/** Stores the files of a question as attachments and waits until they are read. */
@Injectable()
export class AttachedUploads {
  constructor(
    private readonly uploads: AttachmentUploads,
    private readonly shelf: AttachmentShelf,
    private readonly timing: Timing,
  ) {}

  /** The ids of the attachments, in order. @throws Rejection that names the part that was refused; attachment-… */
  async idsOf(parts: readonly AttachedPart[], caller: Caller): Promise<readonly string[]> {
    if (parts.length === 0) return [];
    const ids: string[] = [];
    for (const part of parts) ids.push('attachmentId' in part ? part.attachmentId : await this.store(part, caller));
    await this.untilRead(ids, caller);
    return ids;
  }

  /** Stores one file at a time, so that the error names the file that was refused. */
  private async store(part: Extract<AttachedPart, { bytes: Buffer }>, caller: Caller): Promise<string> {
    try {
      return await this.uploads.store(part.filename, part.bytes, caller);
    } catch (error) {
      throw error instanceof Rejection ? refused(part.place, `cannot be taken: ${error.message}`) : error;
    }
  }

  private async untilRead(ids: readonly string[], caller: Caller): Promise<void> {
    const deadline = this.timing.elapsedMs() + READING_MS_MAX;
    for (;;) {
      try {
        await this.shelf.pick(ids, [ownerOf(caller)]);
        return;
      } catch (error) {
        const isBeingRead = error instanceof Rejection && error.code === 'attachment-not-ready';
        if (!isBeingRead || this.timing.elapsedMs() > deadline) throw error;
      }
      await this.timing.pause(READING_POLL_MS);
    }
  }
}
