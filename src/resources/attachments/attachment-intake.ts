import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { tokenOf } from '../identity/access.policy.js';
import { type Caller, ownerOf } from '../identity/caller.js';
import { Blobs } from '../../kernel/blobs.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import type { ReceivedUpload, StagedFile } from '../../platform/blobs/upload-staging.port.js';
import { AttachmentReader } from '../documents/attachment-reader.port.js';
import { StoreAttachment } from './attachment.commands.js';
import type { AttachmentStored } from './attachment.events.js';

type AcceptedFile = Readonly<{ place: number; filename: string; attachmentId: string; taskId: string }>;
export type RefusedFile = Readonly<{ place: number; filename: string; code: string; reason: string }>;
export type AcceptedFiles = Readonly<{
  accepted: readonly AcceptedFile[];
  refused: readonly RefusedFile[];
  position: bigint | undefined;
}>;

const TOO_LARGE = new Set(['too-large', 'document-too-large']);

/** Stores each file of a completely received form as an attachment. A file that cannot be read does not affect the others. */
@Injectable()
export class AttachmentIntake {
  constructor(
    private readonly commands: Commands,
    private readonly blobs: Blobs,
    private readonly reader: AttachmentReader,
  ) {}

  /** @throws Rejection attachments-too-large, attachments-not-accepted, if every file is refused */
  async accept({ files, oversized }: ReceivedUpload, caller: Caller): Promise<AcceptedFiles> {
    const refused: RefusedFile[] = oversized.map((file) => ({ ...file, code: 'too-large' }));
    const types = new Map<StagedFile, string>();
    for (const file of files) {
      const type = await this.reader.mimeTypeOf(file.filename, file.path).catch(asRefusal);
      if (typeof type === 'string') types.set(file, type);
      else refused.push({ place: file.place, filename: file.filename, code: type.code, reason: type.message });
    }
    refused.sort((one, other) => one.place - other.place);
    if (types.size === 0) throw allRefused(refused);
    const token = tokenOf(caller);
    const kept: Readonly<{ place: number; stored: AttachmentStored['data'] }>[] = [];
    for (const [file, mimeType] of types) {
      const stored = {
        attachmentId: newId(),
        taskId: newId(),
        ownerId: ownerOf(caller),
        ...(token && { accessTokenId: token.id }),
        filename: file.filename,
        mimeType,
        blob: await this.blobs.put(file.open()),
      };
      kept.push({ place: file.place, stored });
    }
    // All at once and last, because a client learns the ids from the answer, and events that precede it have no meaning for it.
    const outcomes = await Promise.all(
      kept.map(({ stored }) => this.commands.execute(new StoreAttachment(stored, caller.cause))),
    );
    const accepted = kept.map(({ place, stored: { filename, attachmentId, taskId } }) => ({
      place,
      filename,
      attachmentId,
      taskId,
    }));
    return { accepted, refused, position: newest(outcomes.map(({ position }) => position)) };
  }
}

const newest = (positions: readonly (bigint | undefined)[]): bigint | undefined =>
  positions.reduce((one, other) => (one === undefined || (other !== undefined && other > one) ? other : one));

function asRefusal(error: unknown): Rejection {
  if (error instanceof Rejection) return error;
  throw error;
}

/** The refused files as clients read them. */
export const errorsOf = (refused: readonly RefusedFile[]) =>
  refused.map(({ place, filename, reason }) => ({ upload_index: place, filename, error: reason }));

function allRefused(refused: readonly RefusedFile[]): Rejection {
  const code = refused.every((file) => TOO_LARGE.has(file.code)) ? 'attachments-too-large' : 'attachments-not-accepted';
  const text = refused.length === 1 ? refused[0]!.reason : 'No valid files to upload';
  return new Rejection(code, text, { errors: errorsOf(refused) });
}
