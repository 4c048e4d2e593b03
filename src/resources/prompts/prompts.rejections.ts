import type { Rejections } from '../../platform/http/rejections.js';

export const promptsRejections: Rejections = {
  'prompt-not-renderable': { status: 400 },
  'prompt-not-found': { status: 404 },
  'prompt-stale-write': { status: 409, code: 'stale_write' },
};
