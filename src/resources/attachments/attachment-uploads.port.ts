import type { Caller } from '../identity/caller.js';

/** Makes attachments of files that come in otherwise than in a form. */
export abstract class AttachmentUploads {
  /** The id of the attachment, which is still to be read. @throws Rejection as an upload does */
  abstract store(filename: string, bytes: Buffer, caller: Caller): Promise<string>;
}
