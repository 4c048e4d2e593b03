import { createHash, type Hash } from 'node:crypto';
import type { AnswerParts, StoppedByGuardrail, TurnPaused } from '../conversation/conversation.events.js';
import type { Frame, PendingToolCall } from './message.events.js';
import { recordOf, withToolCalls } from '../conversation/tool-call.policy.js';

/** The state of a message, folded from its frames. Live callers, pollers and the recovery after a crash use it. */
export type Message = Readonly<{
  parts: AnswerParts;
  schema: unknown;
  conversationId: string | null;
  requestId: string | null;
  error: { text: string; code: string | null } | null;
  /** The guardrail that stopped the answer, whose text is removed then. */
  guardrail: StoppedByGuardrail | null;
  notices: readonly string[];
  /** The pending calls, if the run ended with a pause. */
  pending: readonly PendingToolCall[];
  /** Number of runs: one, and one more after each pause. */
  runs: number;
  /** The type of the last frame; null before the first. */
  last: Frame['type'] | null;
}>;

export const noMessage: Message = {
  parts: { answer: '', thought: '', sources: [], toolCalls: [], structured: false },
  schema: null,
  conversationId: null,
  requestId: null,
  error: null,
  guardrail: null,
  notices: [],
  pending: [],
  runs: 0,
  last: null,
};

/** The parts of a retracted answer. Its tool calls remain, because they were made. */
export const RETRACTED = { answer: '', thought: '', sources: [], structured: false } as const;

export function withFrame(message: Message, frame: Frame): Message {
  const next = { ...message, last: frame.type };
  const part = (parts: Partial<AnswerParts>): Message => ({ ...next, parts: { ...message.parts, ...parts } });
  switch (frame.type) {
    case 'message_id':
      return {
        ...next,
        conversationId: frame.conversation_id,
        requestId: frame.request_id,
        error: null,
        guardrail: null,
        pending: [],
        runs: message.runs + 1,
      };
    case 'answer':
      return part({ answer: message.parts.answer + frame.answer });
    case 'thought':
      return part({ thought: message.parts.thought + frame.thought });
    case 'notice':
      return { ...next, notices: [...message.notices, frame.notice] };
    case 'source':
      return part({ sources: frame.source });
    case 'tool_call':
      return part({ toolCalls: withToolCalls(message.parts.toolCalls, [frame.data]) });
    case 'tool_calls':
      return part({ toolCalls: inOrderOf(frame.tool_calls as AnswerParts['toolCalls'], message.parts.toolCalls) });
    case 'tool_calls_pending':
      return { ...next, pending: frame.data.pending_tool_calls };
    case 'structured_answer':
      return { ...part({ answer: frame.answer, structured: true }), schema: frame.schema };
    case 'guardrail':
      return { ...(frame.retract ? part(RETRACTED) : next), guardrail: frame.guardrail };
    case 'error':
      return { ...next, error: { text: frame.error, code: frame.code ?? null } };
    case 'id':
      return { ...next, conversationId: frame.id };
    case 'end':
      return next;
    default:
      return next satisfies Message;
  }
}

/** The calls in the order of the turn's list, then the pending ones, which the list does not have. */
const inOrderOf = (listed: AnswerParts['toolCalls'], known: AnswerParts['toolCalls']): AnswerParts['toolCalls'] =>
  withToolCalls(withToolCalls(listed, known), listed);

/** Renders a frame: its sequence number, its stored text, and an empty line. */
const renderFrame = (revision: number, data: string): string => `id: ${revision}\ndata: ${data}\n\n`;

/** Renders consecutive frames. */
export function renderFrames(first: number, data: readonly string[]): string {
  let text = '';
  for (let index = 0; index < data.length; index++) text += renderFrame(first + index, data[index]!);
  return text;
}

/** SHA-256 over the `id:` and `data:` lines of a message in order, each with its line feed, without the empty lines. */
export class MessageDigest {
  private readonly hash: Hash = createHash('sha256');
  frames = 0;
  lastId = -1;

  add(revision: number, data: string): void {
    this.hash.update(`id: ${revision}\ndata: ${data}\n`);
    this.frames++;
    this.lastId = revision;
  }

  /** The digest so far. More lines may be added afterwards. */
  hex(): string {
    return this.hash.copy().digest('hex');
  }
}

/** The frames that end a run with a pause. They are equal in every process. */
export function pauseFrames({ conversationId, calls, expiresAt, sources, toolCalls }: TurnPaused['data']): readonly Frame[] {
  const pending = calls.map(({ callId, name, toolName, actionName, arguments: args, pauseType }): PendingToolCall => ({
    call_id: callId,
    name,
    llm_name: name,
    tool_name: toolName,
    action_name: actionName,
    arguments: args,
    pause_type: pauseType,
    thought_signature: null,
    expires_at: expiresAt,
  }));
  return [
    ...calls.map((call): Frame => ({ type: 'tool_call', data: recordOf(call, { status: call.pauseType }) })),
    { type: 'source', source: sources },
    { type: 'tool_calls', tool_calls: toolCalls },
    { type: 'tool_calls_pending', data: { pending_tool_calls: pending } },
    { type: 'id', id: conversationId },
    { type: 'end' },
  ];
}

/** The number of frames at the end of a pause with this number of calls. */
export const pauseFramesCount = (calls: number): number => calls + 5;
