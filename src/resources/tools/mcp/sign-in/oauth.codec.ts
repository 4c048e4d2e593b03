import type { Codec } from '../../../../kernel/event-sourcing/codec.js';
import type { OAuthEvent } from './oauth.events.js';

export const oauthCodec: Codec<OAuthEvent> = {
  OAuthHandshakeStarted: [],
  OAuthSignInAwaited: [],
  OAuthSignInReturned: [],
  OAuthGranted: [],
  OAuthHandshakeFailed: [],
  OAuthTokensRefreshed: [],
  OAuthGrantLost: [],
};
