import type { Rejections } from '../../platform/http/rejections.js';

export const monitorsRejections: Rejections = {
  'monitor-refused': { status: 400 },
  'monitor-not-found': { status: 404 },
  'monitor-over': { status: 409, code: 'monitor_over' },
  'too-many-monitors': { status: 429, retryAfterSeconds: 60 },
};
