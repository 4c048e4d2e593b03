import type { OAuthEvent } from './oauth.events.js';

/**
 * The vault ids of the secrets that are no longer needed after these events. An open sign-in needs the secrets of its handshake;
 * a grant needs its newest tokens until it is lost.
 */
export function secretsLeft(events: readonly OAuthEvent[]): readonly string[] {
  let needed = '';
  const kept = new Set<string>();
  for (const { type, data } of events) {
    if (type === 'OAuthSignInAwaited') needed = data.pendingId;
    if (type === 'OAuthGranted' || type === 'OAuthTokensRefreshed') needed = data.credentialsId;
    if (type === 'OAuthHandshakeFailed' || type === 'OAuthGrantLost') needed = '';
    if (needed !== '') kept.add(needed);
  }
  return [...kept].filter((id) => id !== needed);
}
