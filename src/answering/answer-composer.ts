import { Injectable } from '@nestjs/common';
import type { Source } from '../conversation/conversation.events.js';
import { sourceOf } from '../conversation/message.policy.js';
import { Clock } from '../kernel/clock.js';
import { LanguageModels, type ModelRequest } from '../models/language-model.port.js';
import { PromptRenderer } from '../prompts/prompt.port.js';
import { type RetrievedChunk, Search } from '../sources/search.port.js';
import { AnsweringOptions } from './answering-options.js';
import { documentsThatFit, messagesFor } from './messages.policy.js';
import type { Transcript } from './transcript.js';

/** A piece of an answer in the making, in the order of its making. */
export type Piece =
  | Readonly<{ type: 'notice'; text: string }>
  | Readonly<{ type: 'sources'; sources: readonly Source[] }>
  | Readonly<{ type: 'thought'; text: string }>
  | Readonly<{ type: 'text'; text: string }>
  | Readonly<{ type: 'usage'; promptTokens: number; completionTokens: number }>;

const DEFAULT_CONTEXT_WINDOW = 128_000;

type Retrieved = Readonly<{ chunks: readonly RetrievedChunk[] | undefined; failed: readonly string[] }>;

/** Retrieves, renders the prompt and asks the model; what it yields says nothing yet of frames or of the log. */
@Injectable()
export class AnswerComposer {
  constructor(
    private readonly search: Search,
    private readonly prompts: PromptRenderer,
    private readonly models: LanguageModels,
    private readonly clock: Clock,
    private readonly options: AnsweringOptions,
  ) {}

  async *compose(transcript: Transcript, signal: AbortSignal): AsyncGenerator<Piece> {
    const { settings } = transcript.asked;
    const [{ chunks, failed }, contextWindow] = await Promise.all([
      this.retrieve(transcript),
      this.contextWindow(settings.modelId),
    ]);
    for (const source of failed) yield { type: 'notice', text: `A source could not be searched and was skipped: ${source}` };
    const documents = chunks && documentsThatFit(chunks, contextWindow);
    const sources = (documents ?? []).map(sourceOf);
    yield { type: 'sources', sources };
    if (signal.aborted) return;
    const request = await this.request(transcript, documents, contextWindow);
    for await (const chunk of this.models.stream(request, signal)) {
      if (chunk.type === 'text') yield chunk;
      else if (chunk.type === 'thought') yield chunk;
      else if (chunk.type === 'usage') yield chunk;
    }
  }

  private async retrieve({ asked }: Transcript): Promise<Retrieved> {
    const { sources, chunks, configurationOwnerId } = asked.settings;
    if (sources.length === 0 || chunks === 0) return { chunks: undefined, failed: [] };
    try {
      const found = await this.search.search({ sources, question: asked.question, chunks, ownerId: configurationOwnerId });
      return { chunks: found.chunks, failed: found.failedSources };
    } catch {
      // The answer goes on without documents, and says so: every source counts as failed.
      return { chunks: undefined, failed: sources.map((source) => source.id) };
    }
  }

  private async request(
    { asked, exchanges, ownerId }: Transcript,
    documents: readonly RetrievedChunk[] | undefined,
    contextWindow: number,
  ): Promise<ModelRequest> {
    const { settings, question, requestId } = asked;
    const { text: systemPrompt, holdsDocuments } = await this.prompts.render({
      promptId: settings.promptId,
      ownerId: settings.configurationOwnerId,
      whenMissing: 'use-default',
      namespaces: {
        system: { now: this.clock.now(), requestId, userId: ownerId, apiBaseUrl: this.options.settings.apiBaseUrl },
        passthrough: settings.passthrough,
        documents: documents ?? [],
      },
    });
    return {
      modelId: settings.modelId,
      question,
      messages: messagesFor({ systemPrompt, holdsDocuments, documents, exchanges, question, contextWindow }),
      documents: documents ?? [],
      ...(settings.responseSchema ? { responseSchema: settings.responseSchema } : {}),
    };
  }

  private async contextWindow(modelId: string): Promise<number> {
    const model = (await this.models.list()).find(({ id }) => id === modelId);
    return model?.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  }
}
