import type { Exchange } from '../../conversation/conversation.events.js';
import { parseBoundedJson } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { LinkTerms } from '../../../resources/identity/links/asking-links.port.js';

/** A question with everything around it has to fit one append; this leaves room for the rest. */
export const QUESTION_CHARACTERS_MAX = 128 * 1024;
/** A prompt of the caller is stored with each question that it comes with. */
export const SYSTEM_PROMPT_CHARACTERS_MAX = 64 * 1024;
export const HISTORY_EXCHANGES_MAX = 1_000;
/** What is kept of it has to fit one append of 1 MiB; the rest is room for what entries say beside that. */
export const HISTORY_CHARACTERS_MAX = 4 * 1024 * 1024;
const CONVERSATION_NAME_CHARACTERS = 50;

const invalidHistory = (why: string) => new Rejection('invalid-request', `history ${why}`);

type Texts = Readonly<{ question?: string | null; system_prompt_override?: string | null }>;

/** Whichever dialect a question comes in, it is at most so long. @throws Rejection invalid-request */
export function requireLengths({ question, system_prompt_override: systemPrompt }: Texts): void {
  requireLength('question', question, QUESTION_CHARACTERS_MAX);
  requireLength('system_prompt_override', systemPrompt, SYSTEM_PROMPT_CHARACTERS_MAX);
}

function requireLength(field: string, text: string | null | undefined, max: number): void {
  // A surrogate pair is one character.
  if (text && text.length > max && (text.length > 2 * max || [...text].length > max))
    throw new Rejection('invalid-request', `${field} must be shorter than or equal to ${max} characters`);
}

/**
 * The exchanges a caller brings along: the JSON text of an array of `{prompt, response}`, or that array; an empty text is
 * none. Entries may say more than we keep. @throws Rejection invalid-request, too-large
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

/** An entry without both sides (a question that was never answered) is no exchange. */
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

/** A conversation is called after its first question until somebody names it. */
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
 * What a reader of a link asks: a question, in a conversation of the reader's own. The link says how it is answered.
 * @throws Rejection invalid-request where it brings along what readers may not
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
