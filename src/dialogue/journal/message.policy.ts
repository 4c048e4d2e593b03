import { createHash, type Hash } from 'node:crypto';
import type { AnswerParts, StoppedByGuardrail, TurnPaused } from '../conversation/conversation.events.js';
import type { Frame, PendingToolCall } from './message.events.js';
import { recordOf, withToolCalls } from '../conversation/tool-call.policy.js';

/** What the frames of a message add up to: the same for the live caller, the poller and the recovery after a crash. */
export type Message = Readonly<{
  parts: AnswerParts;
  schema: unknown;
  conversationId: string | null;
  requestId: string | null;
  error: { text: string; code: string | null } | null;
  /** What stopped the answer, of which nothing is left then. */
  guardrail: StoppedByGuardrail | null;
  notices: readonly string[];
  /** What the turn waits for, when its run ended in a pause. */
  pending: readonly PendingToolCall[];
  /** How often the stream has begun: once, and again after each pause. */
  runs: number;
  /** The type of the last frame, null before the first. */
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

/** What is left of an answer that is taken back; its calls were made all the same. */
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

/** The calls of a turn as it lists them, then those that it does not list because they wait. */
const inOrderOf = (listed: AnswerParts['toolCalls'], known: AnswerParts['toolCalls']): AnswerParts['toolCalls'] =>
  withToolCalls(withToolCalls(listed, known), listed);

/** A frame as it goes over the wire: its sequence number, its stored text, an empty line. */
const renderFrame = (revision: number, data: string): string => `id: ${revision}\ndata: ${data}\n\n`;

/** Consecutive frames. */
export function renderFrames(first: number, data: readonly string[]): string {
  let text = '';
  for (let index = 0; index < data.length; index++) text += renderFrame(first + index, data[index]!);
  return text;
}

/** SHA-256 over the `id:` and `data:` lines of a message, each with its line feed, in order; the empty lines do not count. */
export class MessageDigest {
  private readonly hash: Hash = createHash('sha256');
  frames = 0;
  lastId = -1;

  add(revision: number, data: string): void {
    this.hash.update(`id: ${revision}\ndata: ${data}\n`);
    this.frames++;
    this.lastId = revision;
  }

  /** Of everything added so far; more may be added after. */
  hex(): string {
    return this.hash.copy().digest('hex');
  }
}

/** The frames that show a pause and end its run, the same in every process. */
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

/** How many frames a pause with so many calls shows at its end. */
export const pauseFramesCount = (calls: number): number => calls + 5;
