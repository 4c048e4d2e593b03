import { parseHistory, QUESTION_CHARACTERS_MAX } from '../../dialogue/answering/intake/question.policy.js';
import type { Exchange } from '../../dialogue/conversation/conversation.events.js';
import { Rejection } from '../../kernel/rejection.js';

const SOURCES_MAX = 100;
/** Maximum length of the name of a source. */
export const LOCATION_CHARACTERS_MAX = 2_000;

/** Names that older clients send for no source. */
const NO_SOURCE: ReadonlySet<string> = new Set(['', 'default', 'None']);

/**
 * A question of an older client, without the key of the model provider that the request has. `sources`: ids, names or paths.
 */
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
  const sources = named.filter((name) => typeof name !== 'string' || !NO_SOURCE.has(name));
  if (sources.length > SOURCES_MAX || !sources.every(isLocation))
    throw new Rejection(
      'invalid-request',
      `active_docs must name at most ${SOURCES_MAX} sources, each with at most ${LOCATION_CHARACTERS_MAX} characters`,
    );
  return [...new Set(sources)];
}

const isLocation = (value: unknown): value is string => typeof value === 'string' && value.length <= LOCATION_CHARACTERS_MAX;
