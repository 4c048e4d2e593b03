import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { SessionEvent } from './session.events.js';

export const sessionCodec: Codec<SessionEvent> = {
  SessionStarted: [],
  SessionEnded: [],
  SignInRefused: [],
};
