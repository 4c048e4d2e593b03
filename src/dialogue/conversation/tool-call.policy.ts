import type { CalledTool, NotRun, PendingCall } from './conversation.events.js';

export type ToolCallStatus =
  | 'pending'
  | 'completed'
  | 'error'
  | 'denied'
  | 'skipped'
  | 'awaiting_approval'
  | 'requires_client_execution';

/** A tool call as clients see it, in frames while it runs and in the answer afterwards. */
export type ToolCallRecord = Readonly<{
  tool_name: string;
  call_id: string;
  action_name: string;
  arguments: Readonly<Record<string, unknown>>;
  status: ToolCallStatus;
  artifact_id?: string | null;
  /** Set for a call to a remote device. */
  device_id?: string;
  /** Text, also of a structured result: JSON. */
  result?: string | null;
  error?: string;
  error_type?: 'tool_not_allowed' | 'outcome_unknown' | 'connection_required';
  not_run?: NotRun;
  /** The comment of a denial. */
  comment?: string;
}>;

export const recordOf = (
  call: CalledTool,
  outcome: Pick<ToolCallRecord, 'status'> & Partial<ToolCallRecord>,
): ToolCallRecord => ({
  tool_name: call.toolName,
  call_id: call.callId,
  action_name: call.actionName,
  arguments: call.arguments,
  ...(call.deviceId !== undefined && { device_id: call.deviceId }),
  ...outcome,
});

/** Why a call without a decision was not run, as text for the model and for readers. */
const NOT_RUN_TEXTS: Readonly<Record<NotRun, string>> = {
  expired: 'Nobody decided in time, so the call was not run.',
  moved_on: 'The conversation went on with another question, so the call was not run.',
  no_response: 'No response provided',
};

/**
 * Maximum length of a comment in a record, because all records of a turn must fit into an event. The model gets the whole
 * comment.
 */
const SHOWN_COMMENT_CHARACTERS_MAX = 200;

const shown = (comment: string): string =>
  comment.length <= SHOWN_COMMENT_CHARACTERS_MAX
    ? comment
    : `${comment.slice(0, SHOWN_COMMENT_CHARACTERS_MAX - 1).toWellFormed()}…`;

export const deniedRecord = (call: CalledTool, notRun: NotRun | null, comment: string | null = null): ToolCallRecord =>
  recordOf(call, {
    status: 'denied',
    ...(notRun && notRun !== 'no_response' ? { not_run: notRun, result: NOT_RUN_TEXTS[notRun] } : {}),
    ...(comment?.trim() ? { comment: shown(comment.trim()) } : {}),
  });

/** The text that the model gets for a denied call. */
export function denialFor(comment: string | null, notRun: NotRun | null): string {
  const reason = comment?.trim() || (notRun ? NOT_RUN_TEXTS[notRun] : '');
  return `Tool execution denied by user.${reason ? ` Reason: ${reason}` : ''}`;
}

type Entry = Readonly<Record<string, unknown>>;

/** Merges reports of tool calls: each call once, in the order of its first report. */
export function withToolCalls(known: readonly Entry[], reported: readonly Entry[]): readonly Entry[] {
  const calls = new Map(known.map((call) => [call['call_id'], call]));
  for (const call of reported) calls.set(call['call_id'], call);
  return [...calls.values()];
}

/** Sorts the calls of an answer, including those that waited, in the order of the model. */
export function inCallOrder(records: readonly Entry[], waited: readonly PendingCall[]): readonly Entry[] {
  const ids = new Set<unknown>(waited.map(({ callId }) => callId));
  const ordered = records.filter((record) => !ids.has(record['call_id']));
  for (const { callId, place } of waited.toSorted((one, other) => one.place - other.place)) {
    const record = records.find((each) => each['call_id'] === callId);
    if (record) ordered.splice(place, 0, record);
  }
  return ordered;
}

/** Whether a call still waits for a decision or a result. */
export const isWaiting = ({ status }: Entry): boolean => status === 'awaiting_approval' || status === 'requires_client_execution';

export const NOT_BEGUN_TEXT = 'The answer ended before the call was run.';

export const OUTCOME_UNKNOWN_TEXT = 'The call was begun, but whether it took effect is not known. It is not repeated.';

/** The record of a call with effects whose producer was lost before it recorded the result. */
export const outcomeUnknown = (call: CalledTool): ToolCallRecord =>
  recordOf(call, { status: 'error', error: OUTCOME_UNKNOWN_TEXT, error_type: 'outcome_unknown' });
