import type { Rejections } from '../../platform/http/rejections.js';

export const startUpRejections: Rejections = {
  'not-built': { status: 501, code: 'not_built' },
};
