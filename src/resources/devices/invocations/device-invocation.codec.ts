import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { InvocationEvent } from './device-invocation.events.js';

export const deviceInvocationCodec: Codec<InvocationEvent> = {
  InvocationRequested: [],
  InvocationHandedOut: [],
  InvocationAcknowledged: [],
  InvocationOutputReceived: [],
  InvocationFinished: [],
  InvocationExpired: [],
  InvocationOutcomeUnknown: [],
};
