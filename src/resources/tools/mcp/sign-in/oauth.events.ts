import type { Event } from '../../../../kernel/event-sourcing/events.js';

/** A handshake and the grant that comes of it share their id, and a stream. */
export type HandshakeId = string;

/** A tool of a server, as its owner is told of it. */
export type GrantedTool = Readonly<{ name: string; description: string }>;

export type OAuthHandshakeStarted = Event<
  'OAuthHandshakeStarted',
  { handshakeId: HandshakeId; ownerId: string; serverUrl: string; startedAt: string; expiresAt: string }
>;
/**
 * The owner is to sign in at that address, which says nothing that the owner's browser may not know. What else the
 * handshake needs is kept in the vault under `pendingId`; of the state that comes back only the hash is here.
 */
export type OAuthSignInAwaited = Event<
  'OAuthSignInAwaited',
  { handshakeId: HandshakeId; authorizationUrl: string; stateHash: string; pendingId: string }
>;
/** The owner came back with the state. It comes back once. */
export type OAuthSignInReturned = Event<'OAuthSignInReturned', { handshakeId: HandshakeId }>;
/** The tokens are kept in the vault under `credentialsId`. */
export type OAuthGranted = Event<
  'OAuthGranted',
  { handshakeId: HandshakeId; credentialsId: string; tools: readonly GrantedTool[] }
>;
export type OAuthHandshakeFailed = Event<'OAuthHandshakeFailed', { handshakeId: HandshakeId; reason: string }>;
/** From now on these tokens are the grant's. */
export type OAuthTokensRefreshed = Event<'OAuthTokensRefreshed', { handshakeId: HandshakeId; credentialsId: string }>;
/** The server takes the tokens no longer and gives no others: the owner has to sign in again. */
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
