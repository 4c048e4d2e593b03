import type { Event } from '../../../../kernel/event-sourcing/events.js';

/** The id of a handshake and of the grant that results from it; both share a stream. */
export type HandshakeId = string;

/** A tool of a server in the result of a sign-in. */
export type GrantedTool = Readonly<{ name: string; description: string }>;

export type OAuthHandshakeStarted = Event<
  'OAuthHandshakeStarted',
  { handshakeId: HandshakeId; ownerId: string; serverUrl: string; startedAt: string; expiresAt: string }
>;
/**
 * The owner has to sign in at this address, which holds nothing secret from the owner's browser. The other data of the handshake
 * are in the vault under `pendingId`; of the state only the hash is stored.
 */
export type OAuthSignInAwaited = Event<
  'OAuthSignInAwaited',
  { handshakeId: HandshakeId; authorizationUrl: string; stateHash: string; pendingId: string }
>;
/** The owner returned with the state, which works once. */
export type OAuthSignInReturned = Event<'OAuthSignInReturned', { handshakeId: HandshakeId }>;
/** The tokens are in the vault under `credentialsId`. */
export type OAuthGranted = Event<
  'OAuthGranted',
  { handshakeId: HandshakeId; credentialsId: string; tools: readonly GrantedTool[] }
>;
export type OAuthHandshakeFailed = Event<'OAuthHandshakeFailed', { handshakeId: HandshakeId; reason: string }>;
/** From now on the grant uses these tokens. */
export type OAuthTokensRefreshed = Event<'OAuthTokensRefreshed', { handshakeId: HandshakeId; credentialsId: string }>;
/** The server accepts the tokens no longer and gives no new ones, so the owner has to sign in again. */
export type OAuthGrantLost = Event<'OAuthGrantLost', { handshakeId: HandshakeId; reason: string }>;

export type OAuthEvent =
  | OAuthHandshakeStarted
  | OAuthSignInAwaited
  | OAuthSignInReturned
  | OAuthGranted
  | OAuthHandshakeFailed
  | OAuthTokensRefreshed
  | OAuthGrantLost;

export const oauthStream = (handshakeId: HandshakeId): string => `oauth-${handshakeId}`;
