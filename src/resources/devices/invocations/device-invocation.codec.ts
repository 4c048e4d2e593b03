import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { InvocationEvent } from './device-invocation.events.js';

export const invocationCodec: Codec<InvocationEvent> = {
  InvocationRequested: [],
  InvocationHandedOut: [],
  InvocationAcknowledged: [],
  InvocationOutputReceived: [],
  InvocationFinished: [],
  InvocationExpired: [],
  InvocationOutcomeUnknown: [],
};
