import { type Notice, type Notification, notificationRule } from '../../kernel/event-sourcing/notifications.js';
import { awaitsApproval, type Mark, type Marked, markOf, unmarked, withMarkChangedBy } from './conversation-mark.policy.js';
import { conversationCodec } from './conversation.codec.js';
import type { CalledTool, ConversationEvent, NotRun, TurnId, TurnPaused } from './conversation.events.js';

/** Conversations whose state is cached between two events. */
const CACHED_MAX = 1_000;

type About<Type extends string, Payload extends object> = Notification<
  Type,
  'conversation',
  { conversation_id: string } & Payload
>;

/** Why nobody is to approve a turn's calls any more: somebody decided, nobody came in time, or the conversation is past it. */
type ApprovalEnd = 'decided' | 'expired' | 'moved_on';

type PendingCall = { call_id: string; tool_name: string; action_name: string; name: string };

export type ConversationNotification =
  | About<'conversation.mark', { mark: Mark | null }>
  | About<'tool.approval.required', { message_id: string; pending_tool_calls: readonly PendingCall[]; expires_at: string }>
  | About<'tool.approval.cleared', { message_id: string; reason: ApprovalEnd }>
  | About<'conversation.continued', { message_id: string; source: string }>
  | About<'schedule.message.appended', { message_id: string; schedule_id: string; run_id: string; position: number }>;

/** What of a conversation its owner is told changes of: its mark, and which of its turns wait for their approval. */
type NotifiedConversation = Readonly<{
  marked: Marked;
  awaiting: ReadonlySet<TurnId>;
  /** What caused the automatic turns, as long as their end would be a notification. */
  automatic: ReadonlyMap<TurnId, string>;
}>;

const nothingNotified: NotifiedConversation = { marked: unmarked, awaiting: new Set(), automatic: new Map() };

function withNotifiedChanges(
  { marked, awaiting, automatic }: NotifiedConversation,
  event: ConversationEvent,
): NotifiedConversation {
  return {
    marked: withMarkChangedBy(marked, event),
    awaiting: withAwaitingChangedBy(awaiting, event),
    automatic: withAutomaticChangedBy(automatic, event),
  };
}

function withAutomaticChangedBy(
  automatic: NotifiedConversation['automatic'],
  event: ConversationEvent,
): NotifiedConversation['automatic'] {
  switch (event.type) {
    case 'TurnAsked': {
      const { turnId, origin } = event.data;
      return origin?.kind === 'follow-up' ? new Map(automatic).set(turnId, origin.source) : automatic;
    }
    case 'TurnsSuperseded':
      return new Map([...automatic].filter(([turnId]) => !event.data.turnIds.includes(turnId)));
    case 'TurnAnswered':
    case 'TurnFailed':
    case 'TurnStopped':
    case 'TurnWithdrawn':
      return new Map([...automatic].filter(([turnId]) => turnId !== event.data.turnId));
    case 'ConversationDeleted':
      return nothingNotified.automatic;
    default:
      return automatic;
  }
}

function withAwaitingChangedBy(awaiting: ReadonlySet<TurnId>, event: ConversationEvent): ReadonlySet<TurnId> {
  if (event.type === 'TurnPaused' && awaitsApproval(event)) return new Set([...awaiting, event.data.turnId]);
  const ended = endedBy(awaiting, event);
  return ended ? new Set([...awaiting].filter((turnId) => !ended.turnIds.includes(turnId))) : awaiting;
}

/** For which turns nobody is to approve anything any more. */
function endedBy(
  awaiting: ReadonlySet<TurnId>,
  event: ConversationEvent,
): { turnIds: TurnId[]; reason: ApprovalEnd } | undefined {
  if (event.type === 'ConversationDeleted') return { turnIds: [...awaiting], reason: 'moved_on' };
  const reason = reasonOf(event);
  const turnIds = [...awaiting].filter((turnId) => 'turnId' in event.data && turnId === event.data.turnId);
  return reason && { turnIds, reason };
}

function reasonOf(event: ConversationEvent): ApprovalEnd | undefined {
  if (event.type === 'TurnResumed') return 'decided';
  // A pause that nobody resumes ends with one for each call: with the first of them.
  if (event.type === 'ToolCallDenied') return UNRESUMED[event.data.notRun ?? 'no_response'];
  return undefined;
}

const UNRESUMED: Readonly<Record<NotRun, ApprovalEnd | undefined>> = {
  expired: 'expired',
  moved_on: 'moved_on',
  no_response: undefined,
};

/** A conversation that is not listed has no mark, but still needs its owner. The notification of the mark has no name. */
function noticesOf(
  event: ConversationEvent,
  before: NotifiedConversation,
  after: NotifiedConversation,
): readonly Notice<ConversationNotification>[] {
  const { conversationId } = event.data;
  const scope = { kind: 'conversation', id: conversationId } as const;
  const mark = markOf(after.marked);
  const told: Notice<ConversationNotification>[] = [];
  if (after.marked.isListed && mark !== markOf(before.marked)) {
    const payload = { conversation_id: conversationId, mark };
    told.push({ notification: { type: 'conversation.mark', scope, payload } });
  }
  if (event.type === 'TurnPaused' && awaitsApproval(event)) {
    told.push({ name: 'approval', notification: { type: 'tool.approval.required', scope, payload: required(event) } });
  }
  if (event.type === 'TurnAppended' && event.data.origin.kind === 'schedule') {
    const { turnId: message_id, index: position, origin } = event.data;
    const { scheduleId: schedule_id, runId: run_id } = origin;
    const payload = { conversation_id: conversationId, message_id, schedule_id, run_id, position };
    told.push({ name: 'appended', notification: { type: 'schedule.message.appended', scope, payload } });
  }
  if ((event.type === 'TurnAnswered' || event.type === 'TurnFailed') && before.automatic.has(event.data.turnId)) {
    const { turnId: message_id } = event.data;
    const payload = { conversation_id: conversationId, message_id, source: before.automatic.get(message_id)! };
    told.push({ name: 'continued', notification: { type: 'conversation.continued', scope, payload } });
  }
  const ended = endedBy(before.awaiting, event);
  for (const turnId of ended?.turnIds ?? []) {
    const payload = { conversation_id: conversationId, message_id: turnId, reason: ended!.reason };
    told.push({ name: `approval ${turnId}`, notification: { type: 'tool.approval.cleared', scope, payload } });
  }
  return told;
}

/** What the calls are to be run with is not told: it is shown where it is decided. */
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
    codec: conversationCodec,
    // All of them, so that the cached state has no gaps.
    about: Object.keys(conversationCodec) as ConversationEvent['type'][],
    initial: nothingNotified,
    evolve: withNotifiedChanges,
    cachedMax: CACHED_MAX,
    ownerOf: ({ marked }) => marked.ownerId,
    noticesOf,
  }),
];
