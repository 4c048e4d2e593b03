import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { AttachmentEvent } from './attachment.events.js';

export const attachmentCodec: Codec<AttachmentEvent> = {
  AttachmentStored: [],
  AttachmentParsed: [],
  AttachmentFailed: [],
};
