import type { StoppedByGuardrail, Usage } from '../../dialogue/conversation/conversation.events.js';
import {
  CUT_OFF_NOTICE,
  FILTERED_NOTICE,
  type Frame,
  GUARDRAIL,
  type PendingToolCall,
  STOPPED,
} from '../../dialogue/journal/message.events.js';
import { type Message, noMessage, withFrame } from '../../dialogue/journal/message.policy.js';
import { toolCallId } from './asking/call-id.policy.js';
import { shortened } from './shortened.policy.js';

/** The fields that all chunks of a completion share. */
export type Head = Readonly<{ conversationId: string; id: string; created: number; model: string }>;

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/**
 * How a run of a turn ended for a client of this dialect. `denied`: it waits only for approvals, which this interface cannot
 * give. They are denied and the turn continues.
 */
export type Ending = Readonly<
  | { kind: 'finished'; reason: FinishReason }
  | { kind: 'failed'; text: string; code: string | null }
  | { kind: 'denied'; callIds: readonly string[] }
>;

/** The answer so far, and how it ended, if it did. `said`: the text that is already sent. */
export type Completion = Readonly<{ hasBegun: boolean; said: string; message: Message; ending: Ending | null }>;

export const noCompletion: Completion = { hasBegun: false, said: '', message: noMessage, ending: null };

/** The content of a chunk: an addition to the message, or in `docsgpt` data for clients that know this service. */
type Addition = Readonly<{ delta?: object; docsgpt?: object }>;

/** The completion after one more frame, and the additions for a stream. The same frames always give the same additions. */
export function withNextFrame(
  completion: Completion,
  frame: Frame,
  conversationId: string,
): Readonly<{ completion: Completion; additions: readonly Addition[] }> {
  const { hasBegun } = completion;
  const message = withFrame(completion.message, frame);
  const content = contentOf(frame, completion.said);
  const additions = [
    ...(hasBegun ? [] : [{ delta: { role: 'assistant', content: '' } }]),
    ...(content === '' ? [] : [{ delta: { content } }]),
    ...additionsOf(frame, conversationId),
  ];
  const said = completion.said + content;
  return { completion: { hasBegun: true, said, message, ending: endingOf(frame, message) }, additions };
}

/** The text of the answer that is not sent yet. An answer with a schema arrives whole at its end. */
function contentOf(frame: Frame, said: string): string {
  if (frame.type === 'answer') return frame.answer;
  return frame.type === 'structured_answer' && frame.answer.startsWith(said) ? frame.answer.slice(said.length) : '';
}

function additionsOf(frame: Frame, conversationId: string): readonly Addition[] {
  switch (frame.type) {
    case 'thought':
      return [{ delta: { reasoning_content: frame.thought } }];
    case 'source':
      return [{ docsgpt: shortened({ type: 'source', sources: frame.source }) }];
    case 'tool_call':
      return [{ docsgpt: shortened({ type: 'tool_call', data: frame.data }) }];
    case 'notice':
      return [{ docsgpt: { type: 'notice', notice: frame.notice } }];
    case 'id':
      return [{ docsgpt: { type: 'id', conversation_id: frame.id } }];
    case 'guardrail':
      return [{ docsgpt: { type: 'guardrail', ...guardrailOf(frame.guardrail), retract: frame.retract } }];
    case 'error':
      return frame.code === GUARDRAIL ? [{ delta: { refusal: frame.error } }] : [];
    case 'tool_calls_pending': {
      const calls = ofCaller(frame.data.pending_tool_calls);
      const shown = calls.map((call, index) => ({ index, ...toolCallOf(call, conversationId) }));
      return shown.length > 0 ? [{ delta: { tool_calls: shown } }] : [];
    }
    default:
      return [];
  }
}

function endingOf(frame: Frame, { error, pending, notices }: Message): Ending | null {
  if (frame.type === 'error' && frame.code === STOPPED) return { kind: 'failed', text: frame.error, code: STOPPED };
  if (frame.type !== 'end') return null;
  if (error?.code === GUARDRAIL) return { kind: 'finished', reason: 'content_filter' };
  if (error) return { kind: 'failed', ...error };
  if (pending.length === 0 && notices.includes(FILTERED_NOTICE)) return { kind: 'finished', reason: 'content_filter' };
  if (pending.length === 0) return { kind: 'finished', reason: notices.includes(CUT_OFF_NOTICE) ? 'length' : 'stop' };
  if (ofCaller(pending).length > 0) return { kind: 'finished', reason: 'tool_calls' };
  return { kind: 'denied', callIds: pending.map((call) => call.call_id) };
}

const ofCaller = (calls: readonly PendingToolCall[]): readonly PendingToolCall[] =>
  calls.filter((call) => call.pause_type === 'requires_client_execution');

const toolCallOf = ({ call_id: callId, tool_name: name, arguments: given }: PendingToolCall, conversationId: string) => ({
  id: toolCallId({ conversationId, callId }),
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
});

const guardrailOf = ({ stage, categories, checks }: StoppedByGuardrail) => ({ stage, categories, checks });

const usageOf = ({ promptTokens, completionTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

/** One chunk of a stream. */
export const chunkOf = ({ id, created, model }: Head, { delta = {}, docsgpt }: Addition, finish: FinishReason | null = null) => ({
  id,
  object: 'chat.completion.chunk',
  created,
  model,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...(docsgpt && { docsgpt }),
});

/** The chunk of a stream that has only the usage. */
export const usageChunkOf = (head: Head, usage: Usage | undefined) => ({
  ...chunkOf(head, {}),
  choices: [],
  usage: usage ? usageOf(usage) : null,
});

/** The completion for a request without a stream. */
export function completionOf(head: Head, { message }: Completion, reason: FinishReason, usage: Usage | undefined) {
  const { parts, pending, error, guardrail, notices } = message;
  const { conversationId, id, created, model } = head;
  const calls = ofCaller(pending).map((call) => toolCallOf(call, conversationId));
  const said = {
    role: 'assistant',
    content: parts.answer === '' && reason !== 'stop' && reason !== 'length' ? null : parts.answer,
    refusal: (reason === 'content_filter' && error?.text) || null,
    ...(parts.thought && { reasoning_content: parts.thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: said, logprobs: null, finish_reason: reason }],
    ...(usage && { usage: usageOf(usage) }),
    docsgpt: {
      conversation_id: conversationId,
      sources: parts.sources,
      tool_calls: parts.toolCalls,
      ...(guardrail && { guardrail: guardrailOf(guardrail) }),
      ...(notices.length > 0 && { warnings: notices }),
    },
  };
}

export type ChatCompletion = ReturnType<typeof completionOf>;

/** One event of a stream. The last one may be an error that says why the stream ends. */
export type ChatCompletionChunk =
  | (ReturnType<typeof chunkOf> & Readonly<{ usage?: ReturnType<typeof usageOf> | null }>)
  | Readonly<{ error: Readonly<{ message: string; code: string | null; type: 'server_error'; param: null }> }>;
