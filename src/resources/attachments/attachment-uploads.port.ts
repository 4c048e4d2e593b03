import type { Caller } from '../identity/caller.js';

/** Stores files that were not uploaded with a form as attachments. */
export abstract class AttachmentUploads {
  /** Returns the id of the attachment, which is parsed later. @throws Rejection as an upload does */
  abstract store(filename: string, bytes: Buffer, caller: Caller): Promise<string>;
}
