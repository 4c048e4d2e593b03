import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

export type AttachmentId = string;

/** In the log while it is small, else a blob. */
export type StoredText = Readonly<{ text: string } | { blob: BlobRef }>;

/** Something a model may look at: the attached picture, or a page of the attached document. */
export type StoredPicture = Readonly<{ mimeType: string; blob: BlobRef }>;

/** A file was uploaded to be attached to questions; the task with this id reads it. */
export type AttachmentStored = Event<
  'AttachmentStored',
  {
    attachmentId: AttachmentId;
    taskId: string;
    ownerId: string;
    /** The personal access token that it was uploaded with. */
    accessTokenId?: string;
    filename: string;
    mimeType: string;
    blob: BlobRef;
  }
>;
/** What the file says and shows: from here on questions may refer to it. */
export type AttachmentParsed = Event<
  'AttachmentParsed',
  {
    attachmentId: AttachmentId;
    text: StoredText;
    tokens: number;
    /** There was more text than is kept. */
    isCut: boolean;
    /** Of documents that have pages; the first of them are pictures too. */
    pages: number | null;
    pictures: readonly StoredPicture[];
  }
>;
export type AttachmentFailed = Event<'AttachmentFailed', { attachmentId: AttachmentId; reason: string }>;

export type AttachmentEvent = AttachmentStored | AttachmentParsed | AttachmentFailed;

export const attachmentStream = (attachmentId: AttachmentId): string => `attachment-${attachmentId}`;
