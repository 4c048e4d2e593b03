import {
  type Notification,
  notificationRule,
  REASON_CHARACTERS_MAX,
  subjectOf,
} from '../../kernel/event-sourcing/notifications.js';
import { taskCodec } from '../../work/tasks/task.codec.js';
import type { TaskEvent } from '../../work/tasks/task.events.js';
import { attachmentCodec } from './attachment.codec.js';
import { type AttachmentEvent, type AttachmentStored, attachmentStream } from './attachment.events.js';
import { KEEPING_PERCENT } from './attachment.policy.js';
import { cutText } from '../../kernel/cut-text.js';

type About<Type extends string, More extends object = object> = Notification<
  Type,
  'attachment',
  { attachment_id: string; filename: string } & More
>;

type Progressed = About<'attachment.progress', { current: number; stage: 'processing' | 'storing' }>;

export type AttachmentNotification =
  | About<'attachment.queued'>
  | Progressed
  | About<'attachment.completed', { token_count: number; mime_type: string }>
  | About<'attachment.failed', { error: string }>;

/** The state from which notifications about an attachment are made. `isOpen`: it is still being parsed. */
type NotifiedAttachment = Readonly<{ stored: AttachmentStored['data'] | undefined; isOpen: boolean }>;

const noAttachment: NotifiedAttachment = { stored: undefined, isOpen: false };

const withAttachmentEvent = (attachment: NotifiedAttachment, { type, data }: AttachmentEvent): NotifiedAttachment =>
  type === 'AttachmentStored' ? { stored: data, isOpen: true } : { ...attachment, isOpen: false };

type Stored = AttachmentStored['data'];

const about = ({ attachmentId, filename }: Stored) => ({
  scope: { kind: 'attachment', id: attachmentId } as const,
  payload: { attachment_id: attachmentId, filename },
});

/** The notification that the owner gets for an event of an attachment. */
function attachmentNotification(stored: Stored, { type, data }: AttachmentEvent): AttachmentNotification {
  const { scope, payload } = about(stored);
  switch (type) {
    case 'AttachmentStored':
      return { type: 'attachment.queued', scope, payload };
    case 'AttachmentParsed': {
      const more = { token_count: data.tokens, mime_type: stored.mimeType };
      return { type: 'attachment.completed', scope, payload: { ...payload, ...more } };
    }
    case 'AttachmentFailed':
      return { type: 'attachment.failed', scope, payload: { ...payload, error: cutText(data.reason, REASON_CHARACTERS_MAX) } };
  }
}

/** Undefined after the attachment is parsed or has failed, because its end has been notified. */
function progressNotification({ stored, isOpen }: NotifiedAttachment, percent: number): Progressed | undefined {
  if (!stored || !isOpen) return undefined;
  const { scope, payload } = about(stored);
  const stage = percent < KEEPING_PERCENT ? 'processing' : 'storing';
  return { type: 'attachment.progress', scope, payload: { ...payload, current: percent, stage } };
}

type ReadingTask = Readonly<{ ownerId: string; attachmentId: string }>;

function readingTaskOf(task: ReadingTask | undefined, { type, data }: TaskEvent): ReadingTask | undefined {
  if (type !== 'TaskQueued') return task;
  const { ownerId, input } = data;
  return typeof input['attachmentId'] === 'string' ? { ownerId, attachmentId: input['attachmentId'] } : undefined;
}

const folding = { codec: attachmentCodec, initial: noAttachment, evolve: withAttachmentEvent };

export const attachmentNotifications = [
  notificationRule({
    ...folding,
    category: 'attachment',
    about: ['AttachmentStored', 'AttachmentParsed', 'AttachmentFailed'],
    ownerOf: ({ stored }) => stored?.ownerId,
    noticesOf: (event, _, { stored }) => (stored ? [{ notification: attachmentNotification(stored, event) }] : []),
  }),
  notificationRule({
    category: 'task',
    codec: taskCodec,
    about: ['TaskProgressed'],
    initial: undefined,
    evolve: readingTaskOf,
    foldedMax: 1,
    ownerOf: (task) => task?.ownerId,
    noticesOf: ({ data: { percent } }, _, task) => {
      if (!task) return [];
      const stream = attachmentStream(task.attachmentId);
      return [{ subject: subjectOf({ ...folding, stream, notification: (state) => progressNotification(state, percent) }) }];
    },
  }),
];
