import { setTimeout as pause } from 'node:timers/promises';
import type { ChatMessage, ModelChunk, ModelDescription, ModelRequest } from '../model/language-model.port.js';
import type { ModelProvider } from '../model/model-provider.js';
import { fillSchema } from './schema-filler.js';
import { type RankedPassage, rankPassages } from './passage-ranking.js';
import { termsOf } from '../model/terms.js';

const OFFLINE_MODEL_ID = 'offline';

const QUOTED_PASSAGES_MAX = 5;
const QUOTED_DOCUMENTS_MAX = 3;
/** Minimum share of the best score. Passages below it are usually about something else. */
const SCORE_SHARE_MIN = 0.45;
/** Lower minimum for the opening passage, which comes from the best-ranked document that reaches it. */
const OPENING_SHARE_MIN = 0.3;
const CHARACTERS_PER_TOKEN = 4;

/** Shown before the first answer of a conversation. */
const INTRODUCTION =
  'This is the built-in extractive model: it quotes your documents and writes nothing itself. For answers by a language model set OPENAI_BASE_URL and OPENAI_API_KEY.';

const NOTHING_FOUND = 'I found nothing about this in the documents I may search, so I cannot answer it.';

/**
 * The built-in model that is always available. It quotes the sentences, list items and table rows of the retrieved documents that
 * fit the question best and names the documents, or says that it found nothing. The same request always gets the same answer.
 */
export class OfflineLanguageModel implements ModelProvider {
  /** `wordDelayMs` imitates the speed of a remote model, for demonstrations and tests. */
  constructor(private readonly options: Readonly<{ wordDelayMs?: number }> = {}) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const { wordDelayMs = 0 } = this.options;
    const words = answer(request).match(/^\s+\S+\s*|\S+\s*/gu) ?? [];
    const wordsMax = request.maxTokens ?? Infinity;
    let written = 0;
    for (const word of words.slice(0, wordsMax)) {
      if (wordDelayMs > 0) await pause(wordDelayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      written += word.length;
      yield { type: 'text', text: word };
    }
    yield { type: 'usage', promptTokens: tokens(promptCharacters(request)), completionTokens: tokens(written) };
    yield { type: 'finish', reason: words.length > wordsMax ? 'length' : 'stop' };
  }

  async list(): Promise<readonly ModelDescription[]> {
    return [
      {
        id: OFFLINE_MODEL_ID,
        provider: 'verbatim',
        displayName: 'Offline (extractive)',
        description: 'Built in and always available: answers with the best sentences of your documents and invents nothing.',
        attachmentTypes: [],
        tools: false,
        structuredOutput: true,
        streaming: true,
        contextWindow: 128_000,
        reasoningEffort: null,
      },
    ];
  }
}

/** The complete answer, before it is split into words. */
function answer(request: ModelRequest): string {
  const ranked = rankPassages(subjectOf(request), request.documents);
  if (request.responseSchema) {
    return JSON.stringify(
      fillSchema(request.responseSchema, ranked.length > 0 ? ranked.map(({ text }) => text) : [NOTHING_FOUND], ranked.length > 0),
    );
  }
  const titles = request.documents.map(({ title, source }) => title || source);
  const found = ranked.length === 0 ? NOTHING_FOUND : quote(bestOf(ranked), titles);
  return isFirstAnswer(request) ? `${INTRODUCTION}\n\n${found}` : found;
}

const isFirstAnswer = ({ messages }: ModelRequest): boolean => messages.every(({ role }) => role !== 'assistant');

/** A question without meaningful words ("why is that?") is taken to be about the previous question. */
function subjectOf({ question, messages }: ModelRequest): string {
  if (termsOf(question).length > 0) return question;
  return messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .slice(-2)
    .join(' ');
}

/** The passages to quote, from the best documents, in the order of retrieval and then of reading. */
function bestOf(ranked: readonly RankedPassage[]): readonly RankedPassage[] {
  const different = ranked.filter(({ text }, index) => ranked.findIndex((each) => each.text === text) === index);
  const atLeast = (share: number) => different.filter(({ score }) => score >= ranked[0]!.score * share);
  const opening = atLeast(OPENING_SHARE_MIN).reduce((first, each) => (each.document < first.document ? each : first));
  const fitting = atLeast(SCORE_SHARE_MIN);
  const documents = new Set([opening.document, ...fitting.map(({ document }) => document)].slice(0, QUOTED_DOCUMENTS_MAX));
  const quoted = fitting.filter((each) => documents.has(each.document) && each !== opening);
  return [opening, ...quoted.slice(0, QUOTED_PASSAGES_MAX - 1)].sort((a, b) => a.document - b.document || a.place - b.place);
}

/** One part for each distinct title, with its passages in reading order. */
function quote(passages: readonly RankedPassage[], titles: readonly string[]): string {
  const named = [...new Set(passages.map(({ document }) => titles[document]!))];
  const parts = named.map((title, index) => {
    const quoted = passages.filter(({ document }) => titles[document] === title);
    return `${index === 0 ? `According to “${title}”:` : `“${title}” adds:`}${quotation(quoted)}`;
  });
  return parts.join('\n\n');
}

/** Sentences continue the line; each table row and each list item starts a new one. */
function quotation(passages: readonly RankedPassage[]): string {
  return passages.map((passage, index) => `${separator(passage, passages[index - 1])}${passage.text}`).join('');
}

function separator(passage: RankedPassage, before: RankedPassage | undefined): string {
  const isAfterLine = before !== undefined && before.kind !== 'sentence';
  if (passage.kind === 'sentence') return isAfterLine ? '\n\n' : ' ';
  const goesOn = passage.kind === 'item' && before?.paragraph === passage.paragraph && before.document === passage.document;
  if (goesOn) return ' ';
  return isAfterLine ? '\n- ' : '\n\n- ';
}

const textOf = ({ content }: ChatMessage): string =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');

const promptCharacters = ({ messages }: ModelRequest) => messages.reduce((sum, message) => sum + textOf(message).length, 0);

const tokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN);
