import type { Rejections } from '../../platform/http/rejections.js';

export const attachmentsRejections: Rejections = {
  'attachments-not-accepted': { status: 400 },
  'attachment-not-found': { status: 404 },
  'attachment-failed': { status: 409, code: 'attachment_failed' },
  'attachment-not-ready': { status: 409, code: 'attachment_not_ready' },
  'attachments-too-large': { status: 413 },
};
