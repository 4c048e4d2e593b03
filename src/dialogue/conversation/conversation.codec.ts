import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { ConversationEvent, TurnResumed } from './conversation.events.js';

export const conversationCodec: Codec<ConversationEvent> = {
  ConversationStarted: [],
  ConversationRenamed: [],
  ConversationOpened: [],
  ConversationDeleted: [],
  ConversationShared: [],
  ConversationShareEnded: [],
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
  TurnResumed: [withoutCheckUsage],
  TurnRequeued: [],
  BackgroundWorkNoted: [],
  ConversationSnapshotTaken: [],
  TurnsPurged: [],
  ConversationPurged: [],
};

/** Version 1 did not record the usage of the checks. */
function withoutCheckUsage(data: Omit<TurnResumed['data'], 'checkUsage'>): TurnResumed['data'] {
  return { ...data, checkUsage: null };
}
