import type { PendingToolCall } from '../../src/dialogue/journal/message.events.js';
import type { ToolCallRecord } from '../../src/dialogue/conversation/tool-call.policy.js';
import { type Client, framesIn, messageIdIn, recordsIn, streamed } from './client.js';

export type AnsweringRoute = '/stream' | '/api/answer';

/** The outcome of a request to answer, over either route. */
export type Asked = Readonly<{
  status: number;
  conversationId: string;
  answer: string;
  toolCalls: readonly ToolCallRecord[];
  pending: readonly PendingToolCall[];
  /** The streamed records, byte for byte. Empty if the answer was a single object. */
  records: string;
  messageId: string | undefined;
  error: string | undefined;
  code: string | undefined;
}>;

/** Sends a question or decisions about a pause over either route. */
export async function askOver(
  route: AnsweringRoute,
  client: Client,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Asked> {
  const response = await client.post(route, body, headers);
  if (route === '/api/answer' || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return fromBody(response.status, (await response.json()) as Record<string, unknown>);
  }
  const stream = await streamed(response);
  if (response.status !== 200) return fromBody(response.status, JSON.parse(/^data: (.*)$/m.exec(stream.text)![1]!) as never);
  const last = <T>(type: string, field: string) =>
    stream.frames.filter(({ data }) => data.type === type).at(-1)?.data[field] as T | undefined;
  return {
    status: response.status,
    conversationId: last<string>('id', 'id') ?? '',
    messageId: messageIdIn(stream),
    answer: stream.frames.map(({ data }) => (data.type === 'answer' ? (data['answer'] as string) : '')).join(''),
    toolCalls: last('tool_calls', 'tool_calls') ?? [],
    pending: last<{ pending_tool_calls: PendingToolCall[] }>('tool_calls_pending', 'data')?.pending_tool_calls ?? [],
    records: recordsIn(stream.text),
    error: last('error', 'error'),
    code: last('error', 'code'),
  };
}

const fromBody = (status: number, body: Record<string, unknown>): Asked => ({
  status,
  conversationId: body['conversation_id'] as string,
  messageId: undefined,
  answer: body['answer'] as string,
  toolCalls: (body['tool_calls'] ?? []) as ToolCallRecord[],
  pending: (body['pending_tool_calls'] ?? []) as PendingToolCall[],
  records: '',
  error: (body['error'] ?? body['message']) as string | undefined,
  code: body['code'] as string | undefined,
});

/** The types of the frames, and for tool calls their status. */
export const outlineOf = (records: string): string[] =>
  framesIn(records).map(({ data }) =>
    data.type === 'tool_call' ? `tool_call ${(data['data'] as ToolCallRecord).status}` : data.type,
  );
