import type { Rejections } from '../../platform/http/rejections.js';

export const codeRejections: Rejections = {
  'code-disabled': { status: 400 },
};
