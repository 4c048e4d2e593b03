import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type FormPart, UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import type { Caller } from '../identity/caller.js';
import { AttachmentIntake } from './attachment-intake.js';
import { AttachmentUploads } from './attachment-uploads.port.js';

/** Handles each file like a form with one file. */
@Injectable()
export class StagedAttachmentUploads extends AttachmentUploads {
  constructor(
    private readonly staging: UploadStaging,
    private readonly intake: AttachmentIntake,
  ) {
    super();
  }

  async store(filename: string, bytes: Buffer, caller: Caller): Promise<string> {
    const file = { type: 'file', fieldname: 'file', filename, file: Readable.from([bytes]) } as const;
    const form: AsyncIterable<FormPart> = Readable.from([file]);
    const { accepted } = await this.staging.receive(form, (upload) => this.intake.accept(upload, caller), 'one-by-one');
    return accepted[0]!.attachmentId;
  }
}
