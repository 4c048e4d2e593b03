import { Rejection } from '../../kernel/rejection.js';
import type { Rejections } from '../../platform/http/rejections.js';

/** The rejections of session tokens and personal access tokens. */
export const invalidToken = () => new Rejection('invalid-token', 'Authentication error: invalid token');
export const tokenExpired = () => new Rejection('token-expired', 'Authentication error: token expired');
/** The rejections of device tokens. */
export const deviceTokenMissing = () => new Rejection('device-token-missing', 'The device token is missing');
export const deviceTokenInvalid = () => new Rejection('device-token-invalid', 'The token is not a valid device token');
export const tokenRevoked = () => new Rejection('token-revoked', 'Authentication error: token revoked');

export const identityRejections: Rejections = {
  'token-generation-not-allowed': { status: 400 },
  'unknown-agent-key': { status: 401 },
  'invalid-token': { status: 401, code: 'invalid_token', json: true },
  'token-expired': { status: 401, code: 'token_expired', json: true },
  'not-available-to-tokens': { status: 403, code: 'not_available_to_tokens', json: true },
  'not-allowed': { status: 403, code: 'not_allowed' },
  'insufficient-scope': { status: 403, code: 'insufficient_scope', json: true },
  'resource-not-allowed': { status: 403, code: 'resource_not_allowed', json: true },
  'device-token-missing': { status: 401, code: 'missing_token', json: true },
  'device-token-invalid': { status: 401, code: 'invalid_token', json: true },
  'token-revoked': { status: 401, code: 'token_revoked', json: true },
  'session-not-found': { status: 404 },
  'oidc-not-enabled': { status: 404, code: 'oidc_not_enabled' },
  'oidc-idp-unavailable': { status: 503, code: 'idp_unavailable', retryAfterSeconds: 10 },
  'oidc-invalid-code': { status: 401, code: 'invalid_code' },
  'oidc-no-refresh-token': { status: 404, code: 'no_refresh_token' },
  'oidc-refresh-failed': { status: 401, code: 'refresh_failed' },
  'oidc-refresh-unavailable': { status: 503, code: 'refresh_unavailable', retryAfterSeconds: 10 },
  'oidc-not-authorized': { status: 401, code: 'not_authorized' },
  'oidc-missing-logout-token': { status: 400, code: 'missing_logout_token' },
  'oidc-invalid-logout-token': { status: 400, code: 'invalid_logout_token' },
  'oidc-revocation-unavailable': { status: 502, code: 'revocation_unavailable' },
  'origin-not-allowed': { status: 403, code: 'origin_not_allowed' },
  'too-many-wrong-credentials': {
    status: 429,
    code: 'too_many_wrong_credentials',
    retryAfterSeconds: 60,
    json: true,
  },
};
