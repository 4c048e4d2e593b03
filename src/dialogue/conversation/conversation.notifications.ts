import { type Notice, type Notification, notificationRule } from '../../kernel/event-sourcing/notifications.js';
import { awaitsApproval, awaitsOwner, type Mark, markOf } from './conversation-mark.policy.js';
import { conversationCodec } from './conversation.codec.js';
import { conversation } from './conversation.decider.js';
import type { CalledTool, ConversationEvent, NotRun, TurnId, TurnPaused } from './conversation.events.js';
import type { Conversation, Turn } from './turn.policy.js';

/** Number of conversations whose state is cached between events. */
const CACHED_MAX = 1_000;

type About<Type extends string, Payload extends object> = Notification<
  Type,
  'conversation',
  { conversation_id: string } & Payload
>;

/** Why a turn no longer waits for approval: the user decided, the time ran out, or another question was asked. */
type ApprovalEnd = 'decided' | 'expired' | 'moved_on';

type PendingCall = { call_id: string; tool_name: string; action_name: string; name: string };

export type ConversationNotification =
  | About<'conversation.mark', { mark: Mark | null }>
  | About<'tool.approval.required', { message_id: string; pending_tool_calls: readonly PendingCall[]; expires_at: string }>
  | About<'tool.approval.cleared', { message_id: string; reason: ApprovalEnd }>
  | About<'conversation.continued', { message_id: string; source: string }>
  | About<'schedule.message.appended', { message_id: string; schedule_id: string; run_id: string; position: number }>;

/** The turns whose wait for approval ends with an event, with the reason. */
function endedBy(
  before: Conversation,
  event: ConversationEvent,
): { turnIds: readonly TurnId[]; reason: ApprovalEnd } | undefined {
  const awaiting = [...before.turns].filter(([, turn]) => awaitsOwner(turn)).map(([turnId]) => turnId);
  if (event.type === 'ConversationDeleted') return { turnIds: awaiting, reason: 'moved_on' };
  const turnId = awaiting.find((each) => 'turnId' in event.data && each === event.data.turnId);
  if (turnId === undefined) return undefined;
  const reason = reasonOf(before.turns.get(turnId)!, event);
  return reason && { turnIds: [turnId], reason };
}

function reasonOf({ pause }: Turn, event: ConversationEvent): ApprovalEnd | undefined {
  if (event.type === 'TurnResumed') return 'decided';
  // An expired or abandoned pause ends with one denial per call. The first one causes the notification.
  if (event.type !== 'ToolCallDenied' || event.data.callId !== pause!.calls[0]!.callId) return undefined;
  return UNRESUMED[event.data.notRun ?? 'no_response'];
}

const UNRESUMED: Readonly<Record<NotRun, ApprovalEnd | undefined>> = {
  expired: 'expired',
  moved_on: 'moved_on',
  no_response: undefined,
};

/**
 * The notifications of an event. An unlisted conversation has no mark, but may need an approval. The notification of the mark is
 * unnamed.
 */
function noticesOf(
  event: ConversationEvent,
  before: Conversation,
  after: Conversation,
): readonly Notice<ConversationNotification>[] {
  const { conversationId } = event.data;
  const scope = { kind: 'conversation', id: conversationId } as const;
  const mark = markOf(after);
  const notices: Notice<ConversationNotification>[] = [];
  if (after.visibility === 'listed' && mark !== markOf(before)) {
    const payload = { conversation_id: conversationId, mark };
    notices.push({ notification: { type: 'conversation.mark', scope, payload } });
  }
  if (event.type === 'TurnPaused' && awaitsApproval(event)) {
    notices.push({ name: 'approval', notification: { type: 'tool.approval.required', scope, payload: required(event) } });
  }
  if (event.type === 'TurnAppended' && event.data.origin.kind === 'schedule') {
    const { turnId: message_id, index: position, origin } = event.data;
    const { scheduleId: schedule_id, runId: run_id } = origin;
    const payload = { conversation_id: conversationId, message_id, schedule_id, run_id, position };
    notices.push({ name: 'appended', notification: { type: 'schedule.message.appended', scope, payload } });
  }
  const continued = sourceOfEnded(before, event);
  if (continued) {
    const payload = { conversation_id: conversationId, message_id: continued.turnId, source: continued.source };
    notices.push({ name: 'continued', notification: { type: 'conversation.continued', scope, payload } });
  }
  const ended = endedBy(before, event);
  for (const turnId of ended?.turnIds ?? []) {
    const payload = { conversation_id: conversationId, message_id: turnId, reason: ended!.reason };
    notices.push({ name: `approval ${turnId}`, notification: { type: 'tool.approval.cleared', scope, payload } });
  }
  return notices;
}

/** The automatic turn that an event ends with an answer or a failure, and its cause. */
function sourceOfEnded({ turns }: Conversation, event: ConversationEvent): { turnId: TurnId; source: string } | undefined {
  if (event.type !== 'TurnAnswered' && event.type !== 'TurnFailed') return undefined;
  const { turnId } = event.data;
  const turn = turns.get(turnId);
  return turn?.origin?.kind === 'follow-up' && !turn.superseded ? { turnId, source: turn.origin.source } : undefined;
}

/** The request for approval. It leaves the arguments out, which the client shows when the user decides. */
const required = ({ data: { conversationId, turnId, calls, expiresAt } }: TurnPaused) => ({
  conversation_id: conversationId,
  message_id: turnId,
  pending_tool_calls: calls.filter(({ pauseType }) => pauseType === 'awaiting_approval').map(named),
  expires_at: expiresAt,
});

const named = ({ callId, toolName, actionName, name }: CalledTool) => ({
  call_id: callId,
  tool_name: toolName,
  action_name: actionName,
  name,
});

export const conversationNotifications = [
  notificationRule({
    category: 'conversation',
    ...conversation,
    // All event types, so that the cached state has no gaps.
    about: Object.keys(conversationCodec) as ConversationEvent['type'][],
    cachedMax: CACHED_MAX,
    ownerOf: ({ ownerId }) => ownerId,
    noticesOf,
  }),
];
