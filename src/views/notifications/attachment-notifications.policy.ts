import type { AttachmentEvent, AttachmentStored } from '../../resources/attachments/attachment.events.js';
import { KEEPING_PERCENT } from '../../resources/attachments/attachment.policy.js';
import { REASON_CHARACTERS_MAX } from './ingestion.policy.js';
import type { Notification } from './user.events.js';

/** What is said of an attachment as it is read. */
export type NotifiedAttachment = Readonly<{ stored: AttachmentStored['data'] | undefined; isOpen: boolean }>;

export const noAttachment: NotifiedAttachment = { stored: undefined, isOpen: false };

export const withAttachmentEvent = (attachment: NotifiedAttachment, { type, data }: AttachmentEvent): NotifiedAttachment =>
  type === 'AttachmentStored' ? { stored: data, isOpen: true } : { ...attachment, isOpen: false };

type Stored = AttachmentStored['data'];

const about = ({ attachmentId, filename }: Stored) => ({
  scope: { kind: 'attachment', id: attachmentId } as const,
  payload: { attachment_id: attachmentId, filename },
});

/** What the owner is told of what became of an attachment. */
export function attachmentNotification(stored: Stored, { type, data }: AttachmentEvent): Notification {
  const { scope, payload } = about(stored);
  switch (type) {
    case 'AttachmentStored':
      return { type: 'attachment.queued', scope, payload };
    case 'AttachmentParsed': {
      const more = { token_count: data.tokens, mime_type: stored.mimeType };
      return { type: 'attachment.completed', scope, payload: { ...payload, ...more } };
    }
    case 'AttachmentFailed':
      return { type: 'attachment.failed', scope, payload: { ...payload, error: data.reason.slice(0, REASON_CHARACTERS_MAX) } };
  }
}

/** Undefined once it has been read, or cannot be: the end was told. */
export function attachmentProgressNotification(
  { stored, isOpen }: NotifiedAttachment,
  percent: number,
): Notification | undefined {
  if (!stored || !isOpen) return undefined;
  const { scope, payload } = about(stored);
  const stage = percent < KEEPING_PERCENT ? 'processing' : 'storing';
  return { type: 'attachment.progress', scope, payload: { ...payload, current: percent, stage } };
}
