import type { TurnStatus } from '../../conversation/conversation.events.js';
import type { EarlierTurn } from '../../conversation/earlier-turns.port.js';
import type { Repetition } from '../../../kernel/event-sourcing/idempotency.js';

/** A question as it is sent, as far as its place is concerned. */
type Sent = Readonly<{ conversation_id?: string | null; index?: number | null; tool_actions?: unknown[] | null }>;

/** What an idempotency key stands for: the request by its fingerprint, and the turn it began, once that is in the log. */
export type AskedBefore = Readonly<{
  fingerprint: string;
  conversationId: string;
  turn: Pick<EarlierTurn, 'index' | 'status' | 'superseded'> | undefined;
}>;

const WITHOUT_ANSWER: ReadonlySet<TurnStatus> = new Set(['failed', 'stopped']);

/** Whether the question wants the place of another one. */
export const asksForPlace = ({ index, tool_actions }: Sent): boolean => typeof index === 'number' && !tool_actions?.length;

/**
 * What a question means whose idempotency key was used before. Web clients keep the key when their user retries, and say which
 * place the question has, and in which conversation as soon as they know. What was answered, or still may be, is not asked twice;
 * a question that got no answer is asked anew, by another model or with other documents where the user chose so.
 */
export function repetitionOf<Q extends Sent>(request: Q, before: AskedBefore, fingerprint: (request: Q) => string): Repetition {
  const isRetry = asksForPlace(request) && hasPlaceOf(request, before);
  if (isRetry && before.turn && WITHOUT_ANSWER.has(before.turn.status)) return 'anew';
  const forms = isRetry ? formsOf(request) : [request];
  return forms.some((form) => fingerprint(form) === before.fingerprint) ? 'again' : 'differently';
}

/** A client that knows no conversation can only mean the question that began it. */
const hasPlaceOf = ({ conversation_id, index }: Sent, { conversationId, turn }: AskedBefore): boolean =>
  !conversation_id || (conversation_id === conversationId && turn?.superseded === false && turn.index === index);

/** The ways in which the same question may have been sent before: without its place, and before its conversation was known. */
const formsOf = <Q extends Sent>(request: Q): readonly Q[] =>
  [request.conversation_id, null, undefined].flatMap((conversation_id) =>
    [request.index, undefined].map((index) => ({ ...request, conversation_id, index })),
  );
