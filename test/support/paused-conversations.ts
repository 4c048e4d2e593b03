import type {
  CalledTool,
  ConversationEvent,
  PauseType,
  TurnPaused,
  Usage,
} from '../../src/dialogue/conversation/conversation.events.js';
import { turnPaused, waitingCall } from './pauses.js';
import { turnSettings } from './turn-settings.js';

/** Events of the conversation c1, and what they are about. */
export const conversationId = 'c1';
export const aboutTurn = (turnId: string) => ({ conversationId, turnId });

export const started: ConversationEvent = {
  type: 'ConversationStarted',
  data: { conversationId, ownerId: 'alice', agentId: 'a1', name: 'Why?', visibility: 'listed', sharedUsage: false, history: [] },
};
export const question = (turnId: string, agentKeyId: string | null = null, index: number | null = null) => ({
  ...aboutTurn(turnId),
  index,
  question: 'Why?',
  requestId: 'r',
  settings: turnSettings({ agentId: 'a1', agentKeyId }),
});
export const asked = (turnId: string, { agentKeyId = null as string | null, index = 0 } = {}): ConversationEvent => ({
  type: 'TurnAsked',
  data: { ...question(turnId, agentKeyId), index },
});
export const taken = (turnId: string, producer = 'p1'): ConversationEvent => ({
  type: 'TurnStarted',
  data: { ...aboutTurn(turnId), producer },
});
export const paused = (turnId: string, ...calls: (readonly [string, PauseType?])[]): TurnPaused =>
  turnPaused(
    aboutTurn(turnId),
    calls.map(([callId, type]) => waitingCall(callId, type)),
  );
export const stopAsked = (turnId: string): ConversationEvent => ({ type: 'TurnStopRequested', data: aboutTurn(turnId) });
export const approved = (turnId: string, callId: string): ConversationEvent => ({
  type: 'ToolCallApproved',
  data: { ...aboutTurn(turnId), callId },
});
export const resumed = (turnId: string, checkUsage: Usage | null = null): ConversationEvent => ({
  type: 'TurnResumed',
  data: { ...aboutTurn(turnId), checkUsage },
});
export const deleted: ConversationEvent = { type: 'ConversationDeleted', data: { conversationId } };
export const callOf = (callId: string): CalledTool => {
  const { pauseType: _, ...call } = waitingCall(callId);
  return call;
};
export const begun = (turnId: string, callId: string): ConversationEvent => ({
  type: 'ToolCallStarted',
  data: { ...aboutTurn(turnId), call: callOf(callId) },
});
export const finished = (turnId: string, callId: string) =>
  ({ ...aboutTurn(turnId), callId, status: 'completed', result: 'sent' }) as const;

/** The events until t1 waits for two decisions. */
export const WAITING = [started, asked('t1'), taken('t1'), paused('t1', ['k1'], ['k2'])];
