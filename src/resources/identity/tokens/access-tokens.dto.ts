import { FAMILIES, SCOPES } from '../../../kernel/access.js';
import { NAME_CHARACTERS_MAX, RESTRICTED_IDS_MAX } from './access-token.policy.js';

const SCOPE_LIST = { type: 'array', items: { type: 'string', enum: Object.keys(SCOPES) } };
const IDS = { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1, maxItems: RESTRICTED_IDS_MAX };
const FILTER = {
  type: 'object',
  properties: Object.fromEntries(FAMILIES.map((family) => [family, IDS])),
  description: 'The ids to which the token is restricted, for each family that is listed.',
};
const EXPIRY = {
  type: 'integer',
  minimum: 0,
  description:
    'At most PAT_MAX_LIFETIME_DAYS; PAT_DEFAULT_LIFETIME_DAYS if left out. 0 for a token that never expires, if PAT_ALLOW_NON_EXPIRING is set.',
};

export const NEW_TOKEN = {
  type: 'object',
  required: ['name', 'scopes'],
  properties: {
    name: { type: 'string', maxLength: NAME_CHARACTERS_MAX },
    scopes: { ...SCOPE_LIST, minItems: 1 },
    resource_filter: FILTER,
    expires_in_days: EXPIRY,
  },
};
export const REGENERATION = { type: 'object', properties: { expires_in_days: EXPIRY } };

const TIME = { type: 'string', format: 'date-time', nullable: true };
const TOKEN = {
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uuid' },
    name: { type: 'string' },
    token_prefix: { type: 'string', description: 'The first characters of the token, by which its owner recognizes it.' },
    scopes: SCOPE_LIST,
    resource_filter: FILTER,
    status: { type: 'string', enum: ['active', 'expired'] },
    expires_at: TIME,
    last_used_at: { ...TIME, description: 'Updated at most once a minute.' },
    last_used_ip: { type: 'string', nullable: true },
    created_at: TIME,
    revoked_at: { ...TIME, description: 'Always null, because revoked tokens are not listed.' },
  },
};

export const ISSUED = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    token: { type: 'string', description: 'The token. Only this response contains it.' },
    personal_access_token: TOKEN,
  },
};
export const LISTING = {
  type: 'object',
  properties: {
    success: { type: 'boolean' },
    tokens: { type: 'array', items: TOKEN },
    scopes: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, description: { type: 'string' } } },
    },
    policy: { type: 'object' },
  },
};
