import type { Usage } from '../../../dialogue/conversation/conversation.events.js';
import type { Message } from '../../../dialogue/journal/message.policy.js';
import { publicIdOf } from './response-ids.policy.js';
import type { ResponseEcho, ResponsePlace } from './response.events.js';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';
type OutputText = Readonly<{ type: 'output_text'; annotations: readonly []; logprobs: readonly []; text: string }>;
type Refusal = Readonly<{ type: 'refusal'; refusal: string }>;
type ReasoningText = Readonly<{ type: 'reasoning_text'; text: string }>;
export type OutputPart = OutputText | Refusal | ReasoningText;

export type OutputItem = Readonly<
  { id: string; status: ItemStatus } & (
    | { type: 'message'; role: 'assistant'; content: readonly (OutputText | Refusal)[] }
    | { type: 'reasoning'; summary: readonly []; content: readonly ReasoningText[] }
    | { type: 'function_call'; arguments: string; call_id: string; name: string }
  )
>;

/** The data that all objects and events of a response share. */
export type ResponseHead = ResponsePlace &
  Readonly<{ responseId: string; createdAt: number; translator: number; echo: ResponseEcho; isStored: boolean }>;

export type ResponseState = Readonly<
  | { status: 'queued' | 'in_progress' }
  | { status: 'completed'; usage: Usage | undefined; completedAt: number }
  | { status: 'cancelled'; usage: Usage | undefined }
  | { status: 'incomplete'; reason: 'content_filter' | 'max_output_tokens'; usage: Usage | undefined }
  | { status: 'failed'; error: Readonly<{ text: string; code: string | null }>; usage: Usage | undefined }
>;

/** OpenAI's codes of failures. All other failures have its code `server_error`. */
const ERROR_CODES: Readonly<Record<string, string>> = { overloaded: 'rate_limit_exceeded', context_too_long: 'invalid_prompt' };

/** The object `response` with all fields that clients expect. `docsgpt` has the data for clients that know this service. */
export function responseObject(
  head: ResponseHead,
  output: readonly OutputItem[],
  message: Message,
  state: ResponseState,
): object {
  const { responseId, conversationId, createdAt, echo, isStored } = head;
  const { parts, guardrail, notices } = message;
  return {
    id: publicIdOf(responseId),
    object: 'response',
    created_at: createdAt,
    status: state.status,
    background: echo.background,
    completed_at: state.status === 'completed' ? state.completedAt : null,
    error:
      state.status === 'failed'
        ? { code: ERROR_CODES[state.error.code ?? ''] ?? 'server_error', message: state.error.text }
        : null,
    incomplete_details: state.status === 'incomplete' ? { reason: state.reason } : null,
    instructions: echo.instructions,
    max_output_tokens: echo.max_output_tokens,
    metadata: echo.metadata,
    model: echo.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: echo.previous_response_id,
    store: isStored,
    temperature: echo.temperature,
    text: echo.text,
    tool_choice: 'auto',
    tools: echo.tools,
    top_p: echo.top_p,
    truncation: 'auto',
    usage: 'usage' in state && state.usage ? usageOf(state.usage) : null,
    docsgpt: {
      conversation_id: conversationId,
      sources: parts.sources,
      tool_calls: parts.toolCalls,
      ...(guardrail && { guardrail: { stage: guardrail.stage, categories: guardrail.categories, checks: guardrail.checks } }),
      ...(notices.length > 0 && { warnings: notices }),
    },
  };
}

/** The counts of cached tokens and reasoning tokens are 0, because they are not known. */
const usageOf = ({ promptTokens, completionTokens }: Usage) => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: completionTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: promptTokens + completionTokens,
});
