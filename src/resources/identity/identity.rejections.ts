import type { Rejections } from '../../platform/http/rejections.js';

export const identityRejections: Rejections = {
  'token-generation-not-allowed': { status: 400 },
  'unknown-agent-key': { status: 401 },
  'invalid-token': { status: 401, code: 'invalid_token', json: true },
  'token-expired': { status: 401, code: 'token_expired', json: true },
  'not-available-to-tokens': { status: 403, code: 'not_available_to_tokens', json: true },
  'not-allowed': { status: 403, code: 'not_allowed' },
  'insufficient-scope': { status: 403, code: 'insufficient_scope', json: true },
  'resource-not-allowed': { status: 403, code: 'resource_not_allowed', json: true },
  'origin-not-allowed': { status: 403, code: 'origin_not_allowed' },
  'too-many-wrong-credentials': {
    status: 429,
    code: 'too_many_wrong_credentials',
    retryAfterSeconds: 60,
    json: true,
  },
};
