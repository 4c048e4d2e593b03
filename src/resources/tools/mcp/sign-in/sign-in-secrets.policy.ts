import type { OAuthEvent } from './oauth.events.js';

/** Whose sign-in it is, and the secrets that were kept for it and are needed no longer, by their ids in the vault. */
export type SecretsLeft = Readonly<{ ownerId: string; left: readonly string[] }>;

/** Until it is over a sign-in needs what it began with; then a grant needs the newest of its tokens, until they are worth nothing. */
export function secretsLeft(events: readonly OAuthEvent[]): SecretsLeft {
  let ownerId = '';
  let needed = '';
  const kept = new Set<string>();
  for (const { type, data } of events) {
    if (type === 'OAuthHandshakeStarted') ({ ownerId } = data);
    if (type === 'OAuthSignInAwaited') needed = data.pendingId;
    if (type === 'OAuthGranted' || type === 'OAuthTokensRefreshed') needed = data.credentialsId;
    if (type === 'OAuthHandshakeFailed' || type === 'OAuthGrantLost') needed = '';
    if (needed !== '') kept.add(needed);
  }
  return { ownerId, left: [...kept].filter((id) => id !== needed) };
}
