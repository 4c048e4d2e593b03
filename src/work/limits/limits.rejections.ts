import type { Rejections } from '../../platform/http/rejections.js';

export const limitsRejections: Rejections = {
  'usage-limit': { status: 429, retryAfterSeconds: 60, json: true, uniform: true },
  'quota-exceeded': { status: 429, retryAfterSeconds: 60, json: true, uniform: true },
};
