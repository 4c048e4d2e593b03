import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

export type AttachmentId = string;

/** A short text is stored in the event, a longer one as a blob. */
export type StoredText = Readonly<{ text: string } | { blob: BlobRef }>;

/** A picture for models that accept pictures: the attached picture, or a page of the attached document. */
export type StoredPicture = Readonly<{ mimeType: string; blob: BlobRef }>;

/** A file was uploaded that questions can refer to. The task `taskId` parses it. */
export type AttachmentStored = Event<
  'AttachmentStored',
  {
    attachmentId: AttachmentId;
    taskId: string;
    ownerId: string;
    /** The personal access token that the file was uploaded with. */
    accessTokenId?: string;
    filename: string;
    mimeType: string;
    blob: BlobRef;
  }
>;
/** The text and the pictures of the file. After this event questions may refer to the attachment. */
export type AttachmentParsed = Event<
  'AttachmentParsed',
  {
    attachmentId: AttachmentId;
    text: StoredText;
    tokens: number;
    /** Whether the file has more text than is stored. */
    isCut: boolean;
    /** The number of pages, if the document has pages. The first pages are stored as pictures too. */
    pages: number | null;
    pictures: readonly StoredPicture[];
  }
>;
export type AttachmentFailed = Event<'AttachmentFailed', { attachmentId: AttachmentId; reason: string }>;

export type AttachmentEvent = AttachmentStored | AttachmentParsed | AttachmentFailed;

export const attachmentStream = (attachmentId: AttachmentId): string => `attachment-${attachmentId}`;
