import type { Rejections } from '../../platform/http/rejections.js';

export const olderRejections: Rejections = {
  'answer-not-guarded': { status: 403, code: 'answer_not_guarded' },
};
