import type { Scope } from '../../../kernel/access.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { accessTokensCodec } from './access-tokens.codec.js';
import type { AccessTokenId, AccessTokensEvent, IssuedSecret, TokenResources } from './access-tokens.events.js';

/** A token that is not revoked. */
export type AccessToken = Readonly<{
  id: AccessTokenId;
  ownerId: string;
  name: string;
  hash: string;
  /** The number of secrets that the token has had. */
  generation: number;
  scopes: readonly Scope[];
  resources: TokenResources;
  expiresAt: string | null;
}>;

/** The tokens of a user by their ids, without revoked ones. */
export type AccessTokens = Readonly<{ tokens: ReadonlyMap<AccessTokenId, AccessToken> }>;

export const accessTokens: Aggregate<AccessTokens, AccessTokensEvent> = {
  initial: { tokens: new Map() },
  evolve,
  codec: accessTokensCodec,
};

function evolve({ tokens }: AccessTokens, event: AccessTokensEvent): AccessTokens {
  const { tokenId } = event.data;
  switch (event.type) {
    case 'AccessTokenCreated': {
      const { ownerId, name, secret, scopes, resources, expiresAt } = event.data;
      const token = { id: tokenId, ownerId, name, hash: secret.hash, generation: 1, scopes, resources, expiresAt };
      return { tokens: new Map(tokens).set(tokenId, token) };
    }
    case 'AccessTokenRegenerated': {
      const { secret, expiresAt } = event.data;
      const before = tokens.get(tokenId)!;
      return {
        tokens: new Map(tokens).set(tokenId, { ...before, hash: secret.hash, generation: before.generation + 1, expiresAt }),
      };
    }
    case 'AccessTokenRevoked':
      return { tokens: new Map([...tokens].filter(([id]) => id !== tokenId)) };
  }
}

type Decide = Decision<AccessTokens, AccessTokensEvent>;

export const accessTokenNotFound = () => new Rejection('access-token-not-found', 'Token not found');

export const isExpired = ({ expiresAt }: Pick<AccessToken, 'expiresAt'>, now: Date): boolean =>
  expiresAt !== null && new Date(expiresAt) <= now;

/** The properties of a token that a user requests. */
export type TokenWish = Readonly<{
  name: string;
  scopes: readonly Scope[];
  resources: TokenResources;
  expiresAt: string | null;
}>;

export const create =
  (tokenId: AccessTokenId, ownerId: string, wish: TokenWish, secret: IssuedSecret, tokensMax: number, now: Date): Decide =>
  ({ tokens }) => {
    const others = [...tokens.values()];
    refuseAnother(others, tokensMax, now);
    if (others.some(({ name }) => name === wish.name)) {
      throw new Rejection('access-token-name-taken', 'A token with this name already exists');
    }
    return [{ type: 'AccessTokenCreated', data: { tokenId, ownerId, ...wish, secret, createdAt: now.toISOString() } }];
  };

export const regenerate =
  (tokenId: AccessTokenId, secret: IssuedSecret, expiresAt: string | null, tokensMax: number, now: Date): Decide =>
  ({ tokens }) => {
    const token = tokens.get(tokenId);
    if (!token) throw accessTokenNotFound();
    // An expired token does not count, but a regenerated one counts again.
    if (isExpired(token, now)) refuseAnother([...tokens.values()], tokensMax, now);
    const { ownerId } = token;
    return [{ type: 'AccessTokenRegenerated', data: { tokenId, ownerId, secret, regeneratedAt: now.toISOString(), expiresAt } }];
  };

export const revoke =
  (tokenId: AccessTokenId, now: Date): Decide =>
  ({ tokens }) => {
    const token = tokens.get(tokenId);
    if (!token) throw accessTokenNotFound();
    return [{ type: 'AccessTokenRevoked', data: { tokenId, ownerId: token.ownerId, revokedAt: now.toISOString() } }];
  };

function refuseAnother(tokens: readonly AccessToken[], tokensMax: number, now: Date): void {
  if (tokens.filter((token) => !isExpired(token, now)).length < tokensMax) return;
  throw new Rejection('too-many-access-tokens', `Token limit reached (${tokensMax}); revoke one first`);
}
