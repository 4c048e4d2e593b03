import type { Rejections } from '../../platform/http/rejections.js';

export const sharingRejections: Rejections = {
  'shared-thing-not-found': { status: 404 },
};
