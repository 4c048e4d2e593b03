import type { Rejections } from '../../../platform/http/rejections.js';

export const accessTokensRejections: Rejections = {
  'access-token-not-found': { status: 404 },
  'access-token-name-taken': { status: 409, code: 'name_taken' },
  'too-many-access-tokens': { status: 409, code: 'too_many_tokens' },
  'access-tokens-not-available': { status: 403, code: 'tokens_not_available' },
};
