import type { Rejections } from '../../platform/http/rejections.js';

export const answeringRejections: Rejections = {
  'answer-failed': { status: 400 },
};
