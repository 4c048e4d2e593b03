import { setTimeout as pause } from 'node:timers/promises';
import type { ChatMessage, ModelChunk, ModelDescription, ModelRequest } from '../model/language-model.port.js';
import type { ModelProvider } from '../model/model-provider.js';
import { fillSchema } from './schema-filler.js';
import { rankSentences, type RankedSentence } from './sentences.js';
import { termsOf } from '../model/terms.js';

export const OFFLINE_MODEL_ID = 'offline';

const QUOTED_SENTENCES_MAX = 5;
const QUOTED_DOCUMENTS_MAX = 3;
/** A sentence far behind the best one is about something else. */
const SCORE_SHARE_MIN = 0.45;
const CHARACTERS_PER_TOKEN = 4;

const NOTHING_FOUND = 'I found nothing about this in the documents I may search, so I cannot answer it.';

/**
 * The model that is always there: it quotes the sentences of the retrieved documents that fit the question best, names
 * the documents, and says so when there are none. The same request always gets the same answer.
 */
export class OfflineLanguageModel implements ModelProvider {
  /** `wordDelayMs` makes it write as slowly as a remote model would, for demonstrations and tests. */
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

/** The whole answer, before it is cut into words. */
function answer(request: ModelRequest): string {
  const ranked = rankSentences(subjectOf(request), request.documents);
  if (request.responseSchema) {
    return JSON.stringify(
      fillSchema(request.responseSchema, ranked.length > 0 ? ranked.map(({ text }) => text) : [NOTHING_FOUND], ranked.length > 0),
    );
  }
  if (ranked.length === 0) return NOTHING_FOUND;
  return quote(
    bestOf(ranked),
    request.documents.map(({ title, source }) => title || source),
  );
}

/** A question that names nothing ("why is that?") is about what was asked before. */
function subjectOf({ question, messages }: ModelRequest): string {
  if (termsOf(question).length > 0) return question;
  return messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .slice(-2)
    .join(' ');
}

function bestOf(ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const fitting = ranked.filter(({ score }) => score >= ranked[0]!.score * SCORE_SHARE_MIN);
  const different = fitting.filter(({ text }, index) => fitting.findIndex((each) => each.text === text) === index);
  const documents = [...new Set(different.map(({ document }) => document))].slice(0, QUOTED_DOCUMENTS_MAX);
  return different.filter(({ document }) => documents.includes(document)).slice(0, QUOTED_SENTENCES_MAX);
}

/** One paragraph for each document, the one with the best sentence first, its sentences in the order they are written in it. */
function quote(sentences: readonly RankedSentence[], titles: readonly string[]): string {
  const documents = [...new Set(sentences.map(({ document }) => document))];
  const paragraphs = documents.map((document, index) => {
    const quoted = sentences.filter((each) => each.document === document).sort((a, b) => a.place - b.place);
    const opening = index === 0 ? `According to “${titles[document]}”:` : `“${titles[document]}” adds:`;
    return `${opening} ${quoted.map(({ text }) => text).join(' ')}`;
  });
  return paragraphs.join('\n\n');
}

const textOf = ({ content }: ChatMessage): string =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');

const promptCharacters = ({ messages }: ModelRequest) => messages.reduce((sum, message) => sum + textOf(message).length, 0);

const tokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN);
