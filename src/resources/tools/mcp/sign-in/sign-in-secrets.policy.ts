import type { OAuthEvent } from './oauth.events.js';

/**
 * The secrets that were kept for a sign-in and are needed no longer after some of its events, by their ids in the vault. Until it is
 * over a sign-in needs what it began with; then a grant needs the newest of its tokens, until they are worth nothing.
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
