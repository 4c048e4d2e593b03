import type { PauseType, Source, StoppedByGuardrail, TurnId } from '../conversation/conversation.events.js';
import type { ToolCallRecord } from '../conversation/tool-call.policy.js';

/** A tool call that waits for a decision or for the client's result. */
export type PendingToolCall = Readonly<{
  call_id: string;
  /** The model's name of the action, under the two names that clients use. */
  name: string;
  llm_name: string;
  tool_name: string;
  action_name: string;
  arguments: Readonly<Record<string, unknown>>;
  pause_type: PauseType;
  thought_signature: null;
  expires_at: string;
}>;

export type ResearchPlan = Readonly<{
  steps: readonly Readonly<{ query: string; rationale: string }>[];
  complexity: 'simple' | 'moderate' | 'complex';
}>;

/** Steps are counted from 1. `elapsed_seconds` and `tokens_used` are sent with the synthesis. */
export type ResearchProgress = Readonly<{
  status: 'planning' | 'researching' | 'complete' | 'synthesizing';
  step?: number;
  total?: number;
  query?: string;
  elapsed_seconds?: number;
  tokens_used?: number;
}>;

/** A workflow node started or ended. `state_delta` has the variables that it changed. */
export type WorkflowStepFrame = Readonly<
  { type: 'workflow_step'; node_id: string; node_type: string; node_title: string } & (
    | { status: 'running' }
    | { status: 'completed'; state_delta: Readonly<Record<string, unknown>>; output: unknown }
    | { status: 'failed'; state_delta: Readonly<Record<string, unknown>>; error: string }
  )
>;

/**
 * A record of an answer as clients see it. It is stored once, as the JSON text of its `data:` line, and its revision in the
 * stream of the message is its `id:`. Additional types never have a top-level field `answer`, because old widgets would append
 * it.
 */
export type Frame =
  | { type: 'message_id'; message_id: string; conversation_id: string | null; request_id: string }
  | { type: 'answer'; answer: string }
  | { type: 'thought'; thought: string }
  | { type: 'notice'; notice: string }
  | { type: 'source'; source: readonly Source[] }
  | { type: 'tool_call'; data: ToolCallRecord }
  | { type: 'tool_calls'; tool_calls: readonly unknown[] }
  | { type: 'tool_calls_pending'; data: { pending_tool_calls: readonly PendingToolCall[] } }
  | { type: 'structured_answer'; answer: string; structured: true; schema: unknown }
  | { type: 'research_plan'; data: ResearchPlan }
  | { type: 'research_progress'; data: ResearchProgress }
  | { type: 'workflow_run'; workflow_run_id: string }
  | WorkflowStepFrame
  | { type: 'guardrail'; guardrail: StoppedByGuardrail; retract: boolean }
  | { type: 'error'; error: string; code?: string }
  | { type: 'id'; id: string }
  | { type: 'end' };

/** The event type of all frames. A journal holds no other events. */
export const FRAME_EVENT = 'FrameJournaled';

/** The ids of a turn. */
export type TurnToRun = Readonly<{ conversationId: string; turnId: TurnId }>;

export const messageStream = (id: TurnId): string => `message-${id}`;

/** The codes of the last frame: of a turn that its user stopped, and of one whose producer was lost. */
export const STOPPED = 'stopped';
export const INTERRUPTED = 'interrupted';
/** The error code of an answer that a guardrail has stopped. */
export const GUARDRAIL = 'guardrail';

/** Whether a run ends with this frame, given its stored text. For most frames, the first bytes decide. */
export function isTerminal(data: string): boolean {
  if (data === '{"type":"end"}') return true;
  if (!data.startsWith('{"type":"error"')) return false;
  return (JSON.parse(data) as { code?: string }).code === STOPPED;
}

/** The notice of an answer that the model did not finish because it reached its token limit. */
export const CUT_OFF_NOTICE = 'The model reached its limit of tokens, so the answer is cut off.';
/** The notice of an answer that a filter of the model's provider ended. */
export const FILTERED_NOTICE = "A content filter of the model's provider ended the answer.";

/**
 * The metadata of a journal's first frame. Access is decided on the named conversation. The other fields are for older versions
 * of the program, which decide on the journal alone.
 */
export type JournalAccess = Readonly<{
  conversationId: string;
  ownerId: string;
  agentKeyId: string | null;
  agentId: string | null;
  /** The personal access token of the question. */
  accessTokenId?: string;
}>;
