import type { BlobRef } from '../../kernel/blobs.js';
import type { AttachmentParsed, AttachmentStored } from './attachment.events.js';

/** An attachment that has been read: what it is, and how much of it there is. Its contents are fetched apart. */
export type ReadyAttachment = Readonly<
  Pick<AttachmentStored['data'], 'attachmentId' | 'filename' | 'mimeType' | 'blob'> &
    Pick<AttachmentParsed['data'], 'text' | 'tokens' | 'isCut' | 'pages' | 'pictures'>
>;

/** The attachments that questions may refer to. */
export abstract class AttachmentShelf {
  /**
   * Attachments of one of these users, in the order of their ids, each once; where a token is named, those that were uploaded with it.
   * @throws Rejection `attachment-not-found` (also somebody else's), `attachment-not-ready`, `attachment-failed`
   */
  abstract pick(ids: readonly string[], userIds: readonly string[], uploadedWith?: string): Promise<readonly ReadyAttachment[]>;
  /** Those that were picked before, for a question that has been accepted since; whatever is gone is left out. */
  abstract recall(ids: readonly string[]): Promise<readonly ReadyAttachment[]>;
  /** @throws BlobMissing, BlobsUnavailable */
  abstract textOf(attachment: ReadyAttachment): Promise<string>;
  /** @throws BlobMissing, BlobsUnavailable */
  abstract bytesOf(blob: BlobRef): Promise<Buffer>;
}
