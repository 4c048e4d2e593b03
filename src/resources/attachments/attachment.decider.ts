import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { attachmentCodec } from './attachment.codec.js';
import type { AttachmentEvent, AttachmentFailed, AttachmentParsed, AttachmentStored } from './attachment.events.js';

export type Attachment = Readonly<{
  stored: AttachmentStored['data'] | undefined;
  parsed: AttachmentParsed['data'] | undefined;
  failed: AttachmentFailed['data'] | undefined;
}>;

const initial: Attachment = { stored: undefined, parsed: undefined, failed: undefined };

export const attachment: Aggregate<Attachment, AttachmentEvent> = { initial, evolve, codec: attachmentCodec };

function evolve(state: Attachment, event: AttachmentEvent): Attachment {
  switch (event.type) {
    case 'AttachmentStored':
      return { ...state, stored: event.data };
    case 'AttachmentParsed':
      return { ...state, parsed: event.data };
    case 'AttachmentFailed':
      return { ...state, failed: event.data };
  }
}

type Decide = Decision<Attachment, AttachmentEvent>;

/** A repetition by the caller, who chose the id, changes nothing. */
export const storeAttachment =
  (stored: AttachmentStored['data']): Decide =>
  (state) =>
    state.stored ? [] : [{ type: 'AttachmentStored', data: stored }];

/** Does nothing if another attempt has already recorded a result or a failure. */
export const parseAttachment =
  (parsed: AttachmentParsed['data']): Decide =>
  (state) => {
    requireStored(state);
    return state.parsed || state.failed ? [] : [{ type: 'AttachmentParsed', data: parsed }];
  };

export const failAttachment =
  (attachmentId: string, reason: string): Decide =>
  (state) => {
    requireStored(state);
    return state.parsed || state.failed ? [] : [{ type: 'AttachmentFailed', data: { attachmentId, reason } }];
  };

/** @throws Rejection `attachment-not-found` */
export function requireStored({ stored }: Attachment): AttachmentStored['data'] {
  if (!stored) throw attachmentNotFound();
  return stored;
}

export const attachmentNotFound = () => new Rejection('attachment-not-found', 'Attachment not found');
