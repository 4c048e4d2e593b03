import type {
  AnswerParts,
  ConversationEvent,
  PauseType,
  PendingCall,
  TurnPaused,
} from '../../src/dialogue/conversation/conversation.events.js';

/** A pending call with default fields. The number at the end of its id is its index. */
export const waitingCall = (callId: string, pauseType: PauseType = 'awaiting_approval'): PendingCall => ({
  callId,
  toolId: 'tool-1',
  toolName: 'api_tool',
  actionName: 'send',
  name: 'send',
  arguments: { to: 'bob' },
  argumentsSha256: '5f0c3d9a',
  pauseType,
  place: Number(/\d+$/.exec(callId)?.[0] ?? 0),
});

export const PAUSE_EXPIRES_AT = '2026-01-01T00:30:00.000Z';

type AboutTurn = Readonly<{ conversationId: string; turnId: string }>;

/** A turn that is paused for these calls. */
export const turnPaused = (
  about: AboutTurn,
  calls: readonly PendingCall[],
  more: Partial<AnswerParts & Pick<TurnPaused['data'], 'expiresAt'>> = {},
): TurnPaused => ({
  type: 'TurnPaused',
  data: {
    ...about,
    answer: 'Let me',
    thought: '',
    sources: [],
    toolCalls: [],
    structured: false,
    calls,
    expiresAt: PAUSE_EXPIRES_AT,
    lastId: 5 + calls.length,
    modelId: 'offline',
    usage: null,
    continuation: { text: '{}' },
    ...more,
  },
});

/** The events of a pause that is resumed with all its calls approved. */
export const turnResumed = (about: AboutTurn, ...callIds: readonly string[]): ConversationEvent[] => [
  ...callIds.map((callId): ConversationEvent => ({ type: 'ToolCallApproved', data: { ...about, callId } })),
  { type: 'TurnResumed', data: { ...about, checkUsage: null } },
];

/** The events of a pause that ends without a decision: the text remains, and the calls were not run. */
export const turnUnresumed = (
  about: AboutTurn,
  notRun: 'expired' | 'moved_on',
  ...callIds: readonly string[]
): ConversationEvent[] => [
  ...callIds.map((callId): ConversationEvent => ({
    type: 'ToolCallDenied',
    data: { ...about, callId, comment: null, notRun },
  })),
  {
    type: 'TurnAnswered',
    data: {
      ...about,
      answer: 'Let me',
      thought: '',
      sources: [],
      toolCalls: [],
      structured: false,
      modelId: 'offline',
      usage: null,
    },
  },
];
