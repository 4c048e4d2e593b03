import type { TurnStatus } from '../../conversation/conversation.events.js';
import type { EarlierTurn } from '../../conversation/earlier-turns.port.js';
import type { Repetition } from '../../../kernel/event-sourcing/idempotency.js';

/** The fields of a request that determine the question's place in the conversation. */
type Sent = Readonly<{ conversation_id?: string | null; index?: number | null; tool_actions?: unknown[] | null }>;

/** The first request with an idempotency key: its fingerprint, and the turn that it began, once that is in the log. */
export type AskedBefore = Readonly<{
  fingerprint: string;
  conversationId: string;
  turn: Pick<EarlierTurn, 'index' | 'status' | 'superseded'> | undefined;
}>;

const WITHOUT_ANSWER: ReadonlySet<TurnStatus> = new Set(['failed', 'stopped']);

/** Whether the question replaces an earlier question. */
export const asksForPlace = ({ index, tool_actions }: Sent): boolean => typeof index === 'number' && !tool_actions?.length;

/**
 * Classifies a question whose idempotency key was used before. Web clients reuse the key when their user retries, and send the
 * index of the question and the conversation's id as soon as they know it. A question that was answered, or still may be, is not
 * asked twice. A question that failed or was stopped is asked again, with another model or other documents if the user chose
 * them.
 */
export function repetitionOf<Q extends Sent>(request: Q, before: AskedBefore, fingerprint: (request: Q) => string): Repetition {
  const isRetry = asksForPlace(request) && hasPlaceOf(request, before);
  if (isRetry && before.turn && WITHOUT_ANSWER.has(before.turn.status)) return 'anew';
  const forms = isRetry ? formsOf(request) : [request];
  return forms.some((form) => fingerprint(form) === before.fingerprint) ? 'again' : 'differently';
}

/**
 * Whether the request names the place of the earlier turn. Without a conversation's id it means the question that began the
 * conversation.
 */
const hasPlaceOf = ({ conversation_id, index }: Sent, { conversationId, turn }: AskedBefore): boolean =>
  !conversation_id || (conversation_id === conversationId && turn?.superseded === false && turn.index === index);

/** The forms in which the same question may have been sent before: without its index, and without the conversation's id. */
const formsOf = <Q extends Sent>(request: Q): readonly Q[] =>
  [request.conversation_id, null, undefined].flatMap((conversation_id) =>
    [request.index, undefined].map((index) => ({ ...request, conversation_id, index })),
  );
