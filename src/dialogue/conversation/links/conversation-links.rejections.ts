import type { Rejections } from '../../../platform/http/rejections.js';

export const conversationLinksRejections: Rejections = {
  'link-not-found': { status: 404 },
  'link-not-built': { status: 501, code: 'not_built' },
};
