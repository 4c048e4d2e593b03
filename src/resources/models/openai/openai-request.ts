import type OpenAI from 'openai';
import { APIError } from 'openai';
import type { ChatMessage, MessagePart } from '../model/language-model.port.js';
import type { ProviderRequest } from '../model/model-provider.js';
import { withObjectRoot } from '../model/object-root.policy.js';
import { reasonIn } from './openai-failures.js';

export type CompletionParams = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;

/** A request feature that an endpoint has refused and that later requests omit. */
export type Dislike = 'usage' | 'response-schema' | 'max-tokens' | 'tools';

/** Converts a request to OpenAI's parameters. */
export function paramsOf(request: ProviderRequest, dislikes: ReadonlySet<Dislike>): CompletionParams {
  const { modelId, messages, responseSchema, maxTokens, sampling, tools, reasoningEffort, schemaInWords: inWords } = request;
  const spelledOut = responseSchema && (inWords || dislikes.has('response-schema'));
  return {
    model: modelId,
    messages: [...messages.map(messageOf), ...(spelledOut ? [schemaInWords(responseSchema)] : [])],
    stream: true,
    ...(!dislikes.has('usage') && { stream_options: { include_usage: true } }),
    ...(maxTokens !== undefined &&
      (dislikes.has('max-tokens') ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens })),
    ...(sampling && samplingParams(sampling)),
    ...(reasoningEffort && { reasoning_effort: reasoningEffort as NonNullable<CompletionParams['reasoning_effort']> }),
    ...(tools?.length &&
      !dislikes.has('tools') && {
        tools: tools.map(({ name, description, parameters }) => ({
          type: 'function' as const,
          function: { name, description, parameters: parameters as Record<string, unknown> },
        })),
      }),
    ...(responseSchema && !spelledOut && { response_format: schemaFormat(withObjectRoot(responseSchema)) }),
  };
}

const samplingParams = ({
  temperature,
  topP,
  frequencyPenalty,
  presencePenalty,
  seed,
  stop,
}: NonNullable<ProviderRequest['sampling']>): Partial<CompletionParams> => ({
  ...(temperature !== undefined && { temperature }),
  ...(topP !== undefined && { top_p: topP }),
  ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
  ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
  ...(seed !== undefined && { seed }),
  ...(stop !== undefined && { stop: typeof stop === 'string' ? stop : [...stop] }),
});

function messageOf(message: ChatMessage): CompletionParams['messages'][number] {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant': {
      const { content, toolCalls } = message;
      if (!toolCalls?.length) return { role: 'assistant', content };
      const calls = toolCalls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: text },
      }));
      return { role: 'assistant', content: content || null, tool_calls: calls };
    }
    case 'user': {
      if (typeof message.content === 'string') return { role: 'user', content: message.content };
      return { role: 'user', content: message.content.map(partOf) };
    }
  }
}

function partOf(part: MessagePart): OpenAI.Chat.Completions.ChatCompletionContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: part.dataUrl } };
    case 'file':
      return { type: 'file', file: { filename: part.filename, file_data: part.dataUrl } };
  }
}

const schemaFormat = (schema: object): NonNullable<CompletionParams['response_format']> => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema: schema as Record<string, unknown>, strict: isStrict(schema) },
});

/** Strict decoding requires that every object lists all its properties as required and allows no others. */
function isStrict(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(isStrict);
  if (typeof node !== 'object' || node === null) return true;
  const { type, properties, required, additionalProperties } = node as Record<string, unknown>;
  if (type === 'object' || properties) {
    const names = Object.keys(properties ?? {});
    if (additionalProperties !== false || !Array.isArray(required) || !names.every((name) => required.includes(name)))
      return false;
  }
  return Object.values(node).every(isStrict);
}

const schemaInWords = (schema: object) => ({
  role: 'system' as const,
  content: `Answer with a single JSON value that is valid against this JSON Schema, without a code fence and with nothing around it:\n${JSON.stringify(schema)}`,
});

/** How endpoints say that a model has no tools. Other errors about tools, such as those about a schema, do not match. */
const WITHOUT_TOOLS =
  /does not support (tools|function calling)|support tool use|tool choice requires|tool calling\W+is not supported/i;

/** Whether the endpoint complains about the schema of one request, and not about schemas. */
export const isAboutThisSchema = (error: unknown): boolean =>
  error instanceof APIError && /invalid schema/i.test(reasonIn(error.message));

/** The feature that the endpoint's error complains about; undefined if the error has another reason. */
export function dislikeIn(error: unknown): Dislike | undefined {
  if (!(error instanceof APIError) || ![400, 404, 422].includes(error.status as number)) return undefined;
  const words = reasonIn(error.message, error.param);
  if (/stream_options|include_usage/i.test(words)) return 'usage';
  if (/response_format|json_schema/i.test(words)) return 'response-schema';
  if (WITHOUT_TOOLS.test(words)) return 'tools';
  if (/max_completion_tokens|max_tokens.*not supported/i.test(words)) return 'max-tokens';
  return undefined;
}
