import type { Exchange } from '../../conversation/conversation.events.js';
import { parseBoundedJson } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import { isLongerThan } from '../../../resources/text-length.policy.js';
import type { LinkTerms } from '../../../resources/identity/links/asking-links.port.js';

/** Maximum length of a question. It leaves room for the other data of the same append. */
export const QUESTION_CHARACTERS_MAX = 128 * 1024;
/** Maximum length of a caller's system prompt, which is stored with each question. */
export const SYSTEM_PROMPT_CHARACTERS_MAX = 64 * 1024;
/** Maximum number of sources that a question searches. Each that cannot be searched makes a frame. An agent has as many at most. */
const ACTIVE_DOCS_MAX = 200;
export const HISTORY_EXCHANGES_MAX = 1_000;
/** Maximum length of the history text. It exceeds an append's 1 MiB, because entries may have fields that are not stored. */
export const HISTORY_CHARACTERS_MAX = 4 * 1024 * 1024;
const CONVERSATION_NAME_CHARACTERS = 50;

const invalidHistory = (why: string) => new Rejection('invalid-request', `history ${why}`);

type Texts = Readonly<{ question?: string | null; system_prompt_override?: string | null }>;

/** Checks the lengths of a question's texts, for all dialects. @throws Rejection invalid-request */
export function requireLengths({ question, system_prompt_override: systemPrompt }: Texts): void {
  requireLength('question', question, QUESTION_CHARACTERS_MAX);
  requireLength('system_prompt_override', systemPrompt, SYSTEM_PROMPT_CHARACTERS_MAX);
}

function requireLength(field: string, text: string | null | undefined, max: number): void {
  if (text && isLongerThan(text, max))
    throw new Rejection('invalid-request', `${field} must be shorter than or equal to ${max} characters`);
}

type ActiveDocs = string | readonly string[] | null | undefined;

/** The source ids of `active_docs`. `default` means no source. */
export const sourceIdsIn = (docs: ActiveDocs): readonly string[] => [
  ...new Set((typeof docs === 'string' ? [docs] : (docs ?? [])).filter((id) => id !== '' && id !== 'default')),
];

/** The ids of the sources in which a question is to search. @throws Rejection invalid-request */
export function searchedSources(docs: ActiveDocs): readonly string[] {
  const ids = sourceIdsIn(docs);
  if (ids.length <= ACTIVE_DOCS_MAX) return ids;
  throw new Rejection('invalid-request', `active_docs must name at most ${ACTIVE_DOCS_MAX} sources`);
}

/**
 * Parses the exchanges that a caller sends: the JSON text of an array of `{prompt, response}`, or that array. An empty text means
 * no exchanges. Other fields of an entry are ignored.
 * @throws Rejection invalid-request, too-large
 */
export function parseHistory(history: unknown): readonly Exchange[] {
  if (history === undefined || history === null) return [];
  const value = typeof history === 'string' ? parseText(history) : history;
  if (!Array.isArray(value)) throw invalidHistory('must be a JSON array of objects with prompt and response.');
  if (value.length > HISTORY_EXCHANGES_MAX) throw invalidHistory(`must have at most ${HISTORY_EXCHANGES_MAX} entries.`);
  return value.flatMap((entry: unknown) => exchangeOf(entry));
}

function parseText(text: string): unknown {
  if (text.trim() === '') return [];
  if (text.length > HISTORY_CHARACTERS_MAX)
    throw new Rejection('too-large', `history has more than ${HISTORY_CHARACTERS_MAX} characters.`);
  try {
    return parseBoundedJson(text, 'history');
  } catch (error) {
    throw error instanceof SyntaxError ? invalidHistory('must be valid JSON.') : error;
  }
}

/** Skips an entry that lacks its prompt or its response, such as an unanswered question. */
function exchangeOf(entry: unknown): readonly Exchange[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    throw invalidHistory('must hold objects with prompt and response.');
  }
  const { prompt, response } = entry as Partial<Record<keyof Exchange, unknown>>;
  if (prompt === undefined || prompt === null || response === undefined || response === null) return [];
  if (typeof prompt !== 'string' || typeof response !== 'string')
    throw invalidHistory('must have prompt and response as strings.');
  return [{ prompt, response }];
}

/** The name of a conversation after its first question, until a user or the title reaction renames it. */
export const nameFor = (question: string): string =>
  [...question.trim()].slice(0, CONVERSATION_NAME_CHARACTERS).join('') || 'New Conversation';

type ReadersRequest = Readonly<{
  question?: string | null;
  history?: unknown;
  conversation_id?: string | null;
  index?: number | null;
  client_tools?: readonly unknown[] | null;
  attachments?: readonly string[] | null;
}>;

/**
 * Reduces the request of a link's reader to the fields that readers may set. The link defines how the question is answered.
 * @throws Rejection invalid-request if it has client tools or attachments
 */
export function askedByReader(request: ReadersRequest, terms: LinkTerms) {
  if (request.client_tools?.length || request.attachments?.length)
    throw new Rejection('invalid-request', 'Readers of a link bring no tools and no files along.');
  return {
    question: request.question ?? null,
    history: request.history,
    conversation_id: request.conversation_id ?? null,
    index: request.index ?? null,
    agent_id: terms.agentId,
    prompt_id: terms.promptId,
    active_docs: terms.sourceId,
    chunks: terms.chunks ?? null,
  };
}
