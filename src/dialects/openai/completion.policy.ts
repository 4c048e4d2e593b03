import type { StoppedByGuardrail, Usage } from '../../dialogue/conversation/conversation.events.js';
import { CUT_OFF_NOTICE, type Frame, GUARDRAIL, type PendingToolCall, STOPPED } from '../../dialogue/journal/message.events.js';
import { type Message, noMessage, withFrame } from '../../dialogue/journal/message.policy.js';
import { toolCallId } from './asking/call-id.policy.js';

/** What all parts of a completion have in common. */
export type Head = Readonly<{ conversationId: string; id: string; created: number; model: string }>;

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/**
 * How a run of a turn has come to its end for a client of this dialect. `denied`: it waits for approvals alone, which nobody can give
 * here; they are denied, and it goes on.
 */
export type Ending = Readonly<
  | { kind: 'finished'; reason: FinishReason }
  | { kind: 'failed'; text: string; code: string | null }
  | { kind: 'denied'; callIds: readonly string[] }
>;

/** What has been said so far of an answer, and how it ended, if it did. */
export type Completion = Readonly<{ hasBegun: boolean; said: string; message: Message; ending: Ending | null }>;

export const noCompletion: Completion = { hasBegun: false, said: '', message: noMessage, ending: null };

/** What a chunk adds: to the message, or beside it, for those who know this service. */
type Addition = Readonly<{ delta?: object; docsgpt?: object }>;

/** The completion with a frame more, and what a stream shows of that. The same frames give the same additions. */
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

/** Text of the answer that was not shown yet: an answer that has to fit a schema comes at its end, whole. */
function contentOf(frame: Frame, said: string): string {
  if (frame.type === 'answer') return frame.answer;
  return frame.type === 'structured_answer' && frame.answer.startsWith(said) ? frame.answer.slice(said.length) : '';
}

function additionsOf(frame: Frame, conversationId: string): readonly Addition[] {
  switch (frame.type) {
    case 'thought':
      return [{ delta: { reasoning_content: frame.thought } }];
    case 'source':
      return [{ docsgpt: { type: 'source', sources: frame.source } }];
    case 'tool_call':
      return [{ docsgpt: { type: 'tool_call', data: frame.data } }];
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

/** One part of a stream; with usage where the stream is to tell it, which all parts but one say is still to come. */
export const chunkOf = ({ id, created, model }: Head, { delta = {}, docsgpt }: Addition, finish: FinishReason | null = null) => ({
  id,
  object: 'chat.completion.chunk',
  created,
  model,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...(docsgpt && { docsgpt }),
});

/** The part of a stream that tells what was used, and nothing else. */
export const usageChunkOf = (head: Head, usage: Usage | undefined) => ({
  ...chunkOf(head, {}),
  choices: [],
  usage: usage ? usageOf(usage) : null,
});

/** A completion that comes as one object. */
export function completionOf(head: Head, { message }: Completion, reason: FinishReason, usage: Usage | undefined) {
  const { parts, pending, error, guardrail, notices } = message;
  const { conversationId, id, created, model } = head;
  const calls = ofCaller(pending).map((call) => toolCallOf(call, conversationId));
  const said = {
    role: 'assistant',
    content: parts.answer === '' && reason !== 'stop' && reason !== 'length' ? null : parts.answer,
    refusal: reason === 'content_filter' ? error!.text : null,
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

/** What one part of a stream is; the last may tell why there is no more. */
export type ChatCompletionChunk =
  | (ReturnType<typeof chunkOf> & Readonly<{ usage?: ReturnType<typeof usageOf> | null }>)
  | Readonly<{ error: Readonly<{ message: string; code: string | null; type: 'server_error'; param: null }> }>;
