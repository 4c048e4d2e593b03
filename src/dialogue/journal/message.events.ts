import type { PauseType, Source, StoppedByGuardrail, TurnId } from '../conversation/conversation.events.js';
import type { ToolCallRecord } from '../conversation/tool-call.policy.js';

/** A call that waits for a decision or for the result of the client's own code. */
export type PendingToolCall = Readonly<{
  call_id: string;
  /** What the model calls the action; clients know it under both names. */
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

/** Steps are counted from 1; `elapsed_seconds` and `tokens_used` come with the synthesis. */
export type ResearchProgress = Readonly<{
  status: 'planning' | 'researching' | 'complete' | 'synthesizing';
  step?: number;
  total?: number;
  query?: string;
  elapsed_seconds?: number;
  tokens_used?: number;
}>;

/** A node of a workflow begins, or has ended. `state_delta` holds the variables that it changed. */
export type WorkflowStepFrame = Readonly<
  { type: 'workflow_step'; node_id: string; node_type: string; node_title: string } & (
    | { status: 'running' }
    | { status: 'completed'; state_delta: Readonly<Record<string, unknown>>; output: unknown }
    | { status: 'failed'; state_delta: Readonly<Record<string, unknown>>; error: string }
  )
>;

/**
 * What a client is shown of an answer, in order. Each is stored once, as the JSON text of its `data:` line, and its
 * revision in the message's stream is its `id:`. A type of ours never carries a top-level `answer`: old widgets append it.
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

/** The type under which every frame is stored: the journal holds nothing else. */
export const FRAME_EVENT = 'FrameJournaled';

/** A turn by its ids. */
export type TurnToRun = Readonly<{ conversationId: string; turnId: TurnId }>;

export const messageStream = (id: TurnId): string => `message-${id}`;

/** The code of the last frame of a turn that its user stopped, and of one whose producer died. */
export const STOPPED = 'stopped';
export const INTERRUPTED = 'interrupted';
/** The code of the error after which an answer is not shown because a guardrail has stopped it. */
export const GUARDRAIL = 'guardrail';

/** Whether a run of the turn ends with this frame, judged by its stored text. For most frames the first bytes decide. */
export function isTerminal(data: string): boolean {
  if (data === '{"type":"end"}') return true;
  if (!data.startsWith('{"type":"error"')) return false;
  return (JSON.parse(data) as { code?: string }).code === STOPPED;
}

/** What is said of an answer that the model did not bring to its end: it had no tokens left. */
export const CUT_OFF_NOTICE = 'The model reached its limit of tokens, so the answer is cut off.';

/**
 * What a journal says of itself beside its first frame. Who may read it is decided on the conversation that it names; the rest
 * is for older programs, which decide on the journal alone.
 */
export type JournalAccess = Readonly<{
  conversationId: string;
  ownerId: string;
  agentKeyId: string | null;
  agentId: string | null;
  /** The personal access token that the question was asked with. */
  accessTokenId?: string;
}>;
