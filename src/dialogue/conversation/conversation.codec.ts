import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { ConversationEvent } from './conversation.events.js';

export const conversationCodec: Codec<ConversationEvent> = {
  ConversationStarted: [],
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
