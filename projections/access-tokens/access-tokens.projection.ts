import { accessTokensCodec } from '../../src/resources/identity/tokens/access-tokens.codec.js';
import type { AccessTokensEvent } from '../../src/resources/identity/tokens/access-tokens.events.js';
import { changeIn, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asText } from '../text.js';

/** Every personal access token that is not revoked, by the hash of its secret and by its owner. */
export const accessTokens = defineProjection<AccessTokensEvent>({
  name: 'access-tokens',
  categories: ['accessTokens'],
  codec: accessTokensCodec,
  ddl: new URL('./access-tokens.sql', import.meta.url),

  on: {
    AccessTokenCreated: ({ data }) =>
      insertInto('access_token', {
        token_id: data.tokenId,
        owner_id: data.ownerId,
        name: asText(data.name),
        hash: data.secret.hash,
        prefix: data.secret.prefix,
        scopes: data.scopes,
        resources: data.resources,
        created_at: data.createdAt,
        expires_at: data.expiresAt,
      }),
    AccessTokenRegenerated: ({ data: { tokenId, secret, expiresAt } }) =>
      changeIn('access_token', { token_id: tokenId }, { hash: secret.hash, prefix: secret.prefix, expires_at: expiresAt }),
    AccessTokenRevoked: ({ data }) => removeFrom('access_token', { token_id: data.tokenId }),
  },
});
