import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { AccessTokensEvent } from './access-tokens.events.js';

export const accessTokensCodec: Codec<AccessTokensEvent> = {
  AccessTokenCreated: [],
  AccessTokenRegenerated: [],
  AccessTokenRevoked: [],
};
