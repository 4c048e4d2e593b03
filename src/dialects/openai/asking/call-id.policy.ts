import { isId } from '../../../kernel/ids.js';

/** A call of the caller's code. */
export type NamedCall = Readonly<{ conversationId: string; callId: string }>;

/**
 * The id of a call as clients of OpenAI's API have it. It names the conversation that waits: such a client sends the result with
 * nothing else that says where it belongs.
 */
export const toolCallId = ({ conversationId, callId }: NamedCall): string => `call_${conversationId}_${callId}`;

/** What such an id names; undefined where it is none of ours. */
export function callNamedBy(id: string): NamedCall | undefined {
  const [, conversationId, callId] = /^call_([0-9a-f-]{36})_(.+)$/s.exec(id) ?? [];
  return callId !== undefined && isId(conversationId) ? { conversationId, callId } : undefined;
}
