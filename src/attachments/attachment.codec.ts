import type { Codec } from '../kernel/codec.js';
import type { AttachmentEvent } from './attachment.events.js';

export const attachmentCodec: Codec<AttachmentEvent> = {
  AttachmentStored: [],
  AttachmentParsed: [],
  AttachmentFailed: [],
};
