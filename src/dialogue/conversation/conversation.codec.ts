import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { ConversationEvent } from './conversation.events.js';

/** What is new is left out of events of before; older programs must not let a key into a conversation that was begun without one. */
const asBefore = (data: object): object => data;

export const conversationCodec: Codec<ConversationEvent> = {
  ConversationStarted: [asBefore],
  ConversationRenamed: [],
  ConversationOpened: [],
  ConversationDeleted: [],
  TurnAsked: [],
  TurnAppended: [],
  TurnWithdrawn: [],
  TurnsSuperseded: [],
  TurnStarted: [],
  TurnStopRequested: [],
  TurnAnswered: [],
  TurnFailed: [],
  TurnStopped: [],
  TurnSealed: [],
  TurnRated: [],
  ToolCallStarted: [],
  ToolCallFinished: [],
  TurnPaused: [],
  ToolCallApproved: [],
  ToolCallDenied: [],
  ToolCallAnswered: [],
  TurnResumed: [],
  TurnRequeued: [],
  BackgroundWorkNoted: [],
};
