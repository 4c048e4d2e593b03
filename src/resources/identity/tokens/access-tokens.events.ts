import type { Family, Scope } from '../../../kernel/access.js';
import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type AccessTokenId = string;

/** What the log stores of a token's secret: its hash, and its first characters, by which the owner recognizes it. */
export type IssuedSecret = Readonly<{ hash: string; prefix: string }>;

/** The ids to which a token is restricted, for each restricted family. */
export type TokenResources = Readonly<Partial<Record<Family, readonly string[]>>>;

/** A user created a token. `expiresAt` is null if it does not expire. */
export type AccessTokenCreated = Event<
  'AccessTokenCreated',
  {
    tokenId: AccessTokenId;
    ownerId: string;
    name: string;
    secret: IssuedSecret;
    scopes: readonly Scope[];
    resources: TokenResources;
    createdAt: string;
    expiresAt: string | null;
  }
>;
/** The token has a new secret. The previous one is invalid from now on. */
export type AccessTokenRegenerated = Event<
  'AccessTokenRegenerated',
  { tokenId: AccessTokenId; ownerId: string; secret: IssuedSecret; regeneratedAt: string; expiresAt: string | null }
>;
export type AccessTokenRevoked = Event<'AccessTokenRevoked', { tokenId: AccessTokenId; ownerId: string; revokedAt: string }>;

export type AccessTokensEvent = AccessTokenCreated | AccessTokenRegenerated | AccessTokenRevoked;

/**
 * The stream of all tokens of a user. The id is hashed, because it may contain characters that a stream's name must not contain.
 */
export const accessTokensStream = (ownerId: string): string => `accessTokens-${deterministicId('access-tokens', ownerId)}`;
