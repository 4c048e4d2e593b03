import type { Rejections } from '../../platform/http/rejections.js';

export const limitsRejections: Rejections = {
  'usage-limit': { status: 429, code: 'usage_limit', retryAfterSeconds: 60, json: true },
  'quota-exceeded': { status: 429, code: 'quota_exceeded', retryAfterSeconds: 60, json: true },
};
