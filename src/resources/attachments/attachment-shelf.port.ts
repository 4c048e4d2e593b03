import type { BlobRef } from '../../kernel/blobs.js';
import type { AttachmentParsed, AttachmentStored } from './attachment.events.js';

/** The description of an attachment that has been parsed. Its contents are fetched separately. */
export type ReadyAttachment = Readonly<
  Pick<AttachmentStored['data'], 'attachmentId' | 'filename' | 'mimeType' | 'blob'> &
    Pick<AttachmentParsed['data'], 'text' | 'tokens' | 'isCut' | 'pages' | 'pictures'>
>;

/** The attachments that questions may refer to. */
export abstract class AttachmentShelf {
  /**
   * The attachments with these ids, in their order and without duplicates. They must belong to one of the users and, if a token is
   * named, have been uploaded with it. @throws Rejection `attachment-not-found` (also for those of other users or tokens),
   * `attachment-not-ready`, `attachment-failed`
   */
  abstract pick(ids: readonly string[], userIds: readonly string[], uploadedWith?: string): Promise<readonly ReadyAttachment[]>;
  /** The attachments that were picked for a question that is now accepted. Those that no longer exist are left out. */
  abstract recall(ids: readonly string[]): Promise<readonly ReadyAttachment[]>;
  /** @throws BlobMissing, BlobsUnavailable */
  abstract textOf(attachment: ReadyAttachment): Promise<string>;
  /** @throws BlobMissing, BlobsUnavailable */
  abstract bytesOf(blob: BlobRef): Promise<Buffer>;
}
