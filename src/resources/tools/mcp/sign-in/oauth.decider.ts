import type { Decision } from '../../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../../kernel/rejection.js';
import type { Aggregate } from '../../../../kernel/event-sourcing/streams.js';
import { oauthCodec } from './oauth.codec.js';
import type { GrantedTool, OAuthEvent } from './oauth.events.js';

/** A handshake with an authorization server, and the grant it led to. */
export type OAuthGrant = Readonly<{
  id: string;
  status: 'none' | 'started' | 'awaiting' | 'returned' | 'granted' | 'failed' | 'lost';
  ownerId: string;
  serverUrl: string;
  expiresAt: string;
  authorizationUrl: string;
  stateHash: string;
  /** Where in the vault the secrets of the handshake are. */
  pendingId: string;
  /** Where in the vault the tokens are. */
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

/** The same for every caller, who may not know whether there is such a handshake. */
export const handshakeNotFound = () => new Rejection('oauth-handshake-not-found', 'Task not found or expired');

const isOpen = ({ status }: OAuthGrant): boolean => status === 'started' || status === 'awaiting' || status === 'returned';

/** The user did not come back in time. */
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

/** Takes the state that came back, once and in time. */
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

/** The user did not come back by a time, or the sign-in failed. */
export const failOverdue =
  (by: Date): Decide =>
  (state) =>
    isOverdue(state, by) ? fail(TOO_LATE)(state) : [];

/** The tokens that came for those under `before`. Should others be in use by now, these are not wanted any more. */
export const refresh =
  (before: string, credentialsId: string): Decide =>
  ({ id, status, credentialsId: current }) =>
    status === 'granted' && current === before
      ? [{ type: 'OAuthTokensRefreshed', data: { handshakeId: id, credentialsId } }]
      : [];

/** The tokens under `before` are worth nothing any more. */
export const lose =
  (before: string, reason: string): Decide =>
  ({ id, status, credentialsId }) =>
    status === 'granted' && credentialsId === before ? [{ type: 'OAuthGrantLost', data: { handshakeId: id, reason } }] : [];
