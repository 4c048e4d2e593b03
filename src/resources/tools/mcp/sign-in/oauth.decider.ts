import type { Decision } from '../../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../../kernel/rejection.js';
import type { Aggregate } from '../../../../kernel/event-sourcing/streams.js';
import { oauthCodec } from './oauth.codec.js';
import type { GrantedTool, OAuthEvent } from './oauth.events.js';

/** A handshake with an authorization server, and the grant that resulted from it. */
export type OAuthGrant = Readonly<{
  id: string;
  status: 'none' | 'started' | 'awaiting' | 'returned' | 'granted' | 'failed' | 'lost';
  ownerId: string;
  serverUrl: string;
  expiresAt: string;
  authorizationUrl: string;
  stateHash: string;
  /** The vault id of the handshake's secrets. */
  pendingId: string;
  /** The vault id of the tokens. */
  credentialsId: string;
  tools: readonly GrantedTool[];
  reason: string;
}>;

const initial: OAuthGrant = {
  id: '',
  status: 'none',
  ownerId: '',
  serverUrl: '',
  expiresAt: '',
  authorizationUrl: '',
  stateHash: '',
  pendingId: '',
  credentialsId: '',
  tools: [],
  reason: '',
};

export const oauthGrant: Aggregate<OAuthGrant, OAuthEvent> = { initial, evolve, codec: oauthCodec };

function evolve(state: OAuthGrant, event: OAuthEvent): OAuthGrant {
  switch (event.type) {
    case 'OAuthHandshakeStarted': {
      const { handshakeId, ownerId, serverUrl, expiresAt } = event.data;
      return { ...state, id: handshakeId, status: 'started', ownerId, serverUrl, expiresAt };
    }
    case 'OAuthSignInAwaited': {
      const { authorizationUrl, stateHash, pendingId } = event.data;
      return { ...state, status: 'awaiting', authorizationUrl, stateHash, pendingId };
    }
    case 'OAuthSignInReturned':
      return { ...state, status: 'returned' };
    case 'OAuthGranted':
      return { ...state, status: 'granted', credentialsId: event.data.credentialsId, tools: event.data.tools };
    case 'OAuthHandshakeFailed':
      return { ...state, status: 'failed', reason: event.data.reason };
    case 'OAuthTokensRefreshed':
      return { ...state, credentialsId: event.data.credentialsId };
    case 'OAuthGrantLost':
      return { ...state, status: 'lost', reason: event.data.reason };
  }
}

type Decide = Decision<OAuthGrant, OAuthEvent>;

/** The same answer for every caller, whether the handshake does not exist or belongs to another user. */
export const handshakeNotFound = () => new Rejection('oauth-handshake-not-found', 'Task not found or expired');

const isOpen = ({ status }: OAuthGrant): boolean => status === 'started' || status === 'awaiting' || status === 'returned';

/** Whether the user did not return in time. */
export const isOverdue = (state: OAuthGrant, now: Date): boolean => isOpen(state) && now.getTime() >= Date.parse(state.expiresAt);

export type NewHandshake = Readonly<{ handshakeId: string; ownerId: string; serverUrl: string; now: Date; ttlMs: number }>;

export const start =
  ({ handshakeId, ownerId, serverUrl, now, ttlMs }: NewHandshake): Decide =>
  ({ status }) => {
    if (status !== 'none') return [];
    const [startedAt, expiresAt] = [now, new Date(now.getTime() + ttlMs)].map((time) => time.toISOString()) as [string, string];
    return [{ type: 'OAuthHandshakeStarted', data: { handshakeId, ownerId, serverUrl, startedAt, expiresAt } }];
  };

export const awaitSignIn =
  (signIn: Readonly<{ authorizationUrl: string; stateHash: string; pendingId: string }>): Decide =>
  ({ id, status }) =>
    status === 'started' ? [{ type: 'OAuthSignInAwaited', data: { handshakeId: id, ...signIn } }] : [];

/**
 * Uses the state with which the owner returned, once and in time. @throws Rejection oauth-handshake-not-found, oauth-state-used,
 * oauth-state-expired
 */
export const takeState =
  (stateHash: string, now: Date): Decide =>
  (state) => {
    if (state.status === 'none' || stateHash !== state.stateHash) throw handshakeNotFound();
    if (state.status !== 'awaiting') throw new Rejection('oauth-state-used', 'This sign-in was already answered.');
    if (isOverdue(state, now)) throw new Rejection('oauth-state-expired', TOO_LATE);
    return [{ type: 'OAuthSignInReturned', data: { handshakeId: state.id } }];
  };

export const grant =
  (credentialsId: string, tools: readonly GrantedTool[]): Decide =>
  ({ id, status }) =>
    status === 'returned' ? [{ type: 'OAuthGranted', data: { handshakeId: id, credentialsId, tools } }] : [];

export const fail =
  (reason: string): Decide =>
  (state) =>
    isOpen(state) ? [{ type: 'OAuthHandshakeFailed', data: { handshakeId: state.id, reason } }] : [];

const TOO_LATE = 'This sign-in took too long. Please start again.';

/** Fails a handshake that is still open and expired before `by`. */
export const failOverdue =
  (by: Date): Decide =>
  (state) =>
    isOverdue(state, by) ? fail(TOO_LATE)(state) : [];

/** Replaces the tokens `before` by new ones. Does nothing if the grant has other tokens by now. */
export const refresh =
  (before: string, credentialsId: string): Decide =>
  ({ id, status, credentialsId: current }) =>
    status === 'granted' && current === before
      ? [{ type: 'OAuthTokensRefreshed', data: { handshakeId: id, credentialsId } }]
      : [];

/** Records that the server no longer accepts the tokens `before`. */
export const lose =
  (before: string, reason: string): Decide =>
  ({ id, status, credentialsId }) =>
    status === 'granted' && credentialsId === before ? [{ type: 'OAuthGrantLost', data: { handshakeId: id, reason } }] : [];
