import type { Rejections } from '../../../platform/http/rejections.js';

export const conversationLinksRejections: Rejections = {
  'link-not-found': { status: 404 },
};
