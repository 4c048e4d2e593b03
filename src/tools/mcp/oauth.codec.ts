import type { Codec } from '../../kernel/codec.js';
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
