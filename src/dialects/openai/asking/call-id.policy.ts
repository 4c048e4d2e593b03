import { isId } from '../../../kernel/ids.js';

/** A call of the caller's code. */
export type NamedCall = Readonly<{ conversationId: string; callId: string }>;

/**
 * The id of a call for clients of OpenAI's API. It contains the id of the conversation, because such a client sends the result of
 * a call without any other reference to the conversation.
 */
export const toolCallId = ({ conversationId, callId }: NamedCall): string => `call_${conversationId}_${callId}`;

/** The call of such an id. Undefined if the id is not from this service. */
export function callNamedBy(id: string): NamedCall | undefined {
  const [, conversationId, callId] = /^call_([0-9a-f-]{36})_(.+)$/s.exec(id) ?? [];
  return callId !== undefined && isId(conversationId) ? { conversationId, callId } : undefined;
}
