import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { type ChatMessage, LanguageModels, type ModelDescription } from '../../../resources/models/model/language-model.port.js';
import { PromptRenderer } from '../../../resources/prompts/prompt.port.js';
import { type RetrievedChunk, Search, sourceOf } from '../../../resources/sources/chunks/search.port.js';
import { AgentLoop, beginning, type LoopState, type Run } from './agent-loop.js';
import { type Attached, AttachedFiles } from './attached-files.js';
import { AnsweringOptions } from './answering-options.js';
import { Continuations } from '../continuations/continuations.js';
import { CHARACTERS_PER_TOKEN, documentsThatFit, messagesFor } from './messages.policy.js';
import { automaticQuestion } from './no-reply.js';
import type { AnswerDelta } from './answer-delta.js';
import type { Transcript } from './transcript.js';

const DEFAULT_CONTEXT_WINDOW = 128_000;

/** Retriever names that need no notice. The configuration of each source sets the details of its search. */
const RETRIEVERS: ReadonlySet<string> = new Set(['', 'classic', 'default', 'hybrid']);

/** The notice for a retriever that this service does not have; empty for a known one. */
export const retrieverNotices = (retriever: string): readonly string[] =>
  RETRIEVERS.has(retriever) ? [] : [actsAsClassic(retriever)];

const actsAsClassic = (retriever: string) => `This service has no retriever "${retriever}": it searches as "classic" does.`;

type Retrieved = Readonly<{ chunks: readonly RetrievedChunk[] | undefined; failed: readonly string[] }>;

/**
 * Composes the answers of an agent: retrieves documents, renders the prompt, runs model and tools. Yields deltas and writes no
 * frames.
 */
@Injectable()
export class AgentAnswers {
  private readonly logger = new Logger(AgentAnswers.name);

  constructor(
    private readonly search: Search,
    private readonly prompts: PromptRenderer,
    private readonly models: LanguageModels,
    private readonly loop: AgentLoop,
    private readonly continuations: Continuations,
    private readonly clock: Clock,
    private readonly options: AnsweringOptions,
    private readonly attachedFiles: AttachedFiles,
  ) {}

  async *deltas(transcript: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    const { settings, question } = transcript.asked;
    const { modelId, configurationOwnerId: ownerId } = settings;
    const { maxTokens, ...sampling } = settings.sampling ?? {};
    const model = await this.models.describe(modelId, ownerId);
    const request = {
      modelId,
      ownerId,
      question,
      ...(settings.responseSchema ? { responseSchema: settings.responseSchema } : {}),
      ...(settings.sampling && { sampling }),
      ...(maxTokens !== undefined && { maxTokens }),
    };
    if (transcript.resumption) {
      const [tools, state] = await Promise.all([
        this.loop.open(transcript, model),
        this.continuations.recall<LoopState>(transcript.resumption.paused.continuation),
      ]);
      yield* this.loop.run({ transcript, model, tools, request: { ...request, documents: [] } }, state, run);
      return;
    }
    const [tools, { chunks, failed }] = await Promise.all([this.loop.open(transcript, model), this.retrieve(transcript, model)]);
    for (const text of retrieverNotices(settings.retriever)) yield { type: 'notice', text };
    for (const source of failed) yield { type: 'notice', text: `A source could not be searched and was skipped: ${source}` };
    for (const text of tools.notices) yield { type: 'notice', text };
    const contextWindow = model?.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
    const given = await this.attachedFiles.give(settings.attachments ?? [], model, contextWindow);
    const attached = run.guard ? await run.guard.attached(given) : given;
    for (const text of attached.notices) yield { type: 'notice', text };
    const found = chunks && documentsThatFit(chunks, contextWindow - attached.tokens);
    const documents = found && run.guard ? await run.guard.documents(found) : found;
    yield { type: 'sources', sources: (documents ?? []).map(sourceOf) };
    if (run.signal.aborted) return;
    const messages = await this.messages(transcript, documents, attached, contextWindow);
    yield* this.loop.run(
      { transcript, model, tools, request: { ...request, documents: [...attached.documents, ...(documents ?? [])] } },
      beginning(messages),
      run,
    );
  }

  private async retrieve({ asked }: Transcript, model: ModelDescription | undefined): Promise<Retrieved> {
    const { sources, chunks, configurationOwnerId, agentType } = asked.settings;
    // The model of an agentic agent searches with a tool, if it can call tools.
    const searchesItself = agentType === 'agentic' && model?.tools;
    if (sources.length === 0 || chunks === 0 || searchesItself) return { chunks: undefined, failed: [] };
    try {
      const found = await this.search.search({ sources, question: asked.question, chunks, ownerId: configurationOwnerId });
      return { chunks: found.chunks, failed: found.failedSources };
    } catch (error) {
      this.logger.error(error);
      // The answer continues without documents, with a notice for every source.
      return { chunks: undefined, failed: sources.map((source) => source.id) };
    }
  }

  private async messages(
    { asked, exchanges, ownerId, systemPrompt: ofNode }: Transcript,
    documents: readonly RetrievedChunk[] | undefined,
    attached: Attached,
    contextWindow: number,
  ): Promise<readonly ChatMessage[]> {
    const { settings, requestId } = asked;
    const question = asked.origin?.kind === 'follow-up' ? automaticQuestion(asked.question) : asked.question;
    const { systemPrompt: ofCaller } = settings;
    const ofAgent = () =>
      this.prompts.render({
        promptId: settings.promptId,
        ownerId: settings.configurationOwnerId,
        whenMissing: 'use-default',
        namespaces: {
          system: { now: this.clock.now(), requestId, userId: ownerId, apiBaseUrl: this.options.settings.apiBaseUrl },
          passthrough: settings.passthrough,
          documents: documents ?? [],
          attachments: settings.attachments ?? [],
        },
      });
    const { text: systemPrompt, holdsDocuments } = await (ofNode
      ? ofNode(documents ?? [])
      : ofCaller === undefined
        ? ofAgent()
        : { text: ofCaller, holdsDocuments: false });
    const newest = await exchanges(contextWindow * CHARACTERS_PER_TOKEN);
    return messagesFor({ systemPrompt, holdsDocuments, documents, exchanges: newest, question, attached, contextWindow });
  }
}
