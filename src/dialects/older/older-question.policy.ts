import { parseHistory, QUESTION_CHARACTERS_MAX } from '../../dialogue/answering/intake/question.policy.js';
import type { Exchange } from '../../dialogue/conversation/conversation.events.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';

const SOURCES_MAX = 100;

/** Names that older clients send for no source. */
const NO_SOURCE: ReadonlySet<string> = new Set(['', 'default', 'None']);

/** A question of an older client, without the key of the model provider that the request has. */
export type OlderQuestion = Readonly<{ question: string; exchanges: readonly Exchange[]; sources: readonly string[] }>;

/** @throws Rejection invalid-request, too-large */
export function olderQuestionIn(body: Readonly<Record<string, unknown>>): OlderQuestion {
  const { question, history, active_docs: docs } = body;
  if (typeof question !== 'string' || question.trim() === '')
    throw new Rejection('invalid-request', 'Missing required fields: question');
  if (question.length > QUESTION_CHARACTERS_MAX)
    throw new Rejection('invalid-request', `question has more than ${QUESTION_CHARACTERS_MAX} characters`);
  return { question, exchanges: parseHistory(history === '' ? null : history), sources: sourcesIn(docs) };
}

function sourcesIn(docs: unknown): readonly string[] {
  const named: readonly unknown[] = Array.isArray(docs) ? docs : [docs ?? ''];
  const ids = named.filter((id) => typeof id !== 'string' || !NO_SOURCE.has(id));
  if (ids.length > SOURCES_MAX || !ids.every((id): id is string => typeof id === 'string' && isId(id)))
    throw new Rejection('invalid-request', `active_docs must be ids of sources, at most ${SOURCES_MAX}`);
  return [...new Set(ids)];
}
