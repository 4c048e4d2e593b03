import type { Family, Scope } from '../../../kernel/access.js';
import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type AccessTokenId = string;

/** The secret of a token as the log may know it: a hash, and the first characters, by which its owner knows it again. */
export type IssuedSecret = Readonly<{ hash: string; prefix: string }>;

/** The ids that a token is restricted to, of each family that is named. */
export type TokenResources = Readonly<Partial<Record<Family, readonly string[]>>>;

/** A user gives a program a credential of its own. Null: it does not expire. */
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
/** The token has another secret; the one before is of no use from now on. */
export type AccessTokenRegenerated = Event<
  'AccessTokenRegenerated',
  { tokenId: AccessTokenId; ownerId: string; secret: IssuedSecret; regeneratedAt: string; expiresAt: string | null }
>;
export type AccessTokenRevoked = Event<'AccessTokenRevoked', { tokenId: AccessTokenId; ownerId: string; revokedAt: string }>;

export type AccessTokensEvent = AccessTokenCreated | AccessTokenRegenerated | AccessTokenRevoked;

/** All tokens of a user. A user may have any text for an id, a stream may not have any text for a name. */
export const accessTokensStream = (ownerId: string): string => `accessTokens-${deterministicId('access-tokens', ownerId)}`;
