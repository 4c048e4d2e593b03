import type { Rejections } from '../../../platform/http/rejections.js';

export const agentFilesRejections: Rejections = {
  'too-many-files': { status: 503, code: 'unavailable', retryAfterSeconds: 2 },
};
