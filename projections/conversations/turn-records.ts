import type {
  AttachedFile,
  PendingCall,
  StoppedByGuardrail,
  TurnOrigin,
} from '../../src/dialogue/conversation/conversation.events.js';
import { recordOf, withToolCalls } from '../../src/dialogue/conversation/tool-call.policy.js';

/** A row of `conversations.turn`. */
export type TurnRow = Readonly<{
  turn_id: string;
  status: 'asked' | 'running' | 'paused' | 'answered' | 'failed' | 'stopped';
  question: string;
  response: string;
  thought: string;
  sources: unknown;
  tool_calls: readonly Readonly<Record<string, unknown>>[];
  pending: readonly PendingCall[];
  structured: boolean;
  origin: TurnOrigin | null;
  attachments: readonly AttachedFile[];
  workflow_run_id: string | null;
  error: string | null;
  guardrail: StoppedByGuardrail | null;
  request_id: string;
  model_id: string;
  feedback: string | null;
  feedback_at: Date | null;
  asked_at: Date;
  changed_at: Date;
}>;

/** The statuses of turns in the words of existing clients. A stopped answer is complete, because it will not grow any further. */
export const STATUS = {
  asked: 'pending',
  running: 'streaming',
  paused: 'streaming',
  answered: 'complete',
  stopped: 'complete',
  failed: 'failed',
} as const;

/** The tool calls of a turn. While it is paused, they include the calls that wait for a decision. */
export const toolCallsOf = ({ status, tool_calls, pending }: TurnRow): TurnRow['tool_calls'] =>
  status === 'paused'
    ? withToolCalls(
        tool_calls,
        pending.map((call) => recordOf(call, { status: call.pauseType })),
      )
    : tool_calls;

function metadataOf({ error, guardrail, origin }: TurnRow) {
  if (error === null && origin === null) return {};
  return { metadata: { ...(origin && originRecord(origin)), ...(error !== null && { error }), ...(guardrail && { guardrail }) } };
}

const originRecord = (origin: TurnOrigin) =>
  origin.kind === 'schedule'
    ? { scheduled: true, schedule_id: origin.scheduleId, run_id: origin.runId, scheduled_run_at: origin.scheduledFor }
    : { wake: { source: origin.source, ref_id: origin.refId, dedupe_key: origin.dedupeKey } };

const attachmentsOf = ({ attachments }: TurnRow) =>
  attachments.length > 0 ? { attachments: attachments.map(({ id, filename }) => ({ id, fileName: filename })) } : {};

export type QueryRecord = ReturnType<typeof queryRecord>;

/** A turn as its owner sees it. */
export const queryRecord = (row: TurnRow) => ({
  prompt: row.question,
  response: row.response,
  thought: row.thought,
  sources: row.sources,
  tool_calls: toolCallsOf(row),
  timestamp: row.asked_at,
  model_id: row.model_id,
  message_id: row.turn_id,
  status: STATUS[row.status],
  request_id: row.request_id,
  last_heartbeat_at: row.changed_at,
  ...(row.structured ? { structured: true } : {}),
  ...attachmentsOf(row),
  ...(row.workflow_run_id === null ? {} : { workflow_run_id: row.workflow_run_id }),
  ...metadataOf(row),
  ...(row.feedback === null ? {} : { feedback: row.feedback, feedback_timestamp: row.feedback_at }),
});

export type SharedRecord = ReturnType<typeof sharedRecord>;

/** A turn as readers of a link see it, without the fields that only its owner may see. */
export const sharedRecord = (row: TurnRow) => ({
  prompt: row.question,
  response: row.response,
  thought: row.thought,
  sources: row.sources,
  tool_calls: row.tool_calls,
  timestamp: row.asked_at,
  feedback: null,
  ...attachmentsOf(row),
});
