import type { Rejections } from '../../platform/http/rejections.js';

export const notificationsRejections: Rejections = {
  'push-not-configured': { status: 503, code: 'push_not_configured', retryAfterSeconds: 86_400 },
  'too-many-event-streams': { status: 429, code: 'too_many_connections', retryAfterSeconds: 5, json: true },
  'replay-budget-exhausted': { status: 429, code: 'replay_budget_exhausted', retryAfterSeconds: 60, json: true },
};
