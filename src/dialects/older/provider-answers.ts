import { Injectable } from '@nestjs/common';
import { documentsThatFit, messagesFor } from '../../dialogue/answering/loop/messages.policy.js';
import { Clock } from '../../kernel/clock.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Guardrails } from '../../resources/guardrails/guardrails.port.js';
import { requireAccess } from '../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { ModelFailed } from '../../resources/models/model/language-model.port.js';
import { ProviderModels } from '../../resources/models/model/provider-models.port.js';
import { PromptRenderer } from '../../resources/prompts/prompt.port.js';
import { Search } from '../../resources/sources/chunks/search.port.js';
import { CHUNKS_DEFAULT } from '../../resources/sources/source/retrieval.policy.js';
import { NamedSources } from './named-sources.js';
import type { OlderQuestion } from './older-question.policy.js';

const DEFAULT_CONTEXT_WINDOW = 128_000;

const sourceNotAccessible = () => new Rejection('source-not-accessible', 'Source not accessible');

/**
 * Answers that are generated with the caller's own key of a model provider. They have no agent, tools or conversation and are not
 * recorded.
 */
@Injectable()
export class ProviderAnswers {
  constructor(
    private readonly models: ProviderModels,
    private readonly search: Search,
    private readonly prompts: PromptRenderer,
    private readonly guardrails: Guardrails,
    private readonly named: NamedSources,
    private readonly clock: Clock,
  ) {}

  /** @throws Rejection if the question is refused or the provider does not answer */
  async answer(user: SignedInUser, key: string, asked: OlderQuestion, signal: AbortSignal): Promise<string> {
    const { question } = asked;
    const sources = await this.sourcesNamed(user, asked.sources);
    requireAccess(user, { does: 'ask', question: { agentId: null, sources, promptId: null, continuedAgentId: undefined } });
    // Guardrails are not applied to these questions and answers.
    if (this.guardrails.policyFor(undefined))
      throw new Rejection('answer-not-guarded', 'This service checks all answers: ask without a key of a provider');
    const models = this.models.withKey(key);
    const modelId = await models.defaultModelId();
    const contextWindow = (await models.describe(modelId))?.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
    const found = await this.found(user.userId, question, sources);
    const documents = found && documentsThatFit(found, contextWindow);
    const messages = await this.messages(user, asked, documents, contextWindow);
    try {
      let answer = '';
      for await (const chunk of models.stream({ modelId, messages, question, documents: documents ?? [] }, signal))
        if (chunk.type === 'text') answer += chunk.text;
      return answer;
    } catch (error) {
      if (error instanceof ModelFailed) throw new Rejection('answer-failed', error.message);
      throw error;
    }
  }

  private async sourcesNamed(user: SignedInUser, names: readonly string[]): Promise<readonly string[]> {
    const found = names.some((name) => !isId(name)) ? await this.named.find(user, names) : names;
    return names.map((name, index) => {
      const id = isId(name) ? name : found[index];
      if (id === undefined) throw sourceNotAccessible();
      return id;
    });
  }

  private async found(ownerId: string, question: string, sources: readonly string[]) {
    if (sources.length === 0) return undefined;
    const request = { sources: sources.map((id) => ({ id })), question, chunks: CHUNKS_DEFAULT, ownerId };
    const { chunks, failedSources } = await this.search.search(request);
    if (failedSources.length > 0) throw sourceNotAccessible();
    return chunks;
  }

  private async messages(
    { userId, cause }: SignedInUser,
    { question, exchanges }: OlderQuestion,
    documents: ReturnType<typeof documentsThatFit> | undefined,
    contextWindow: number,
  ) {
    const system = { now: this.clock.now(), requestId: cause.correlationId, userId, apiBaseUrl: null };
    const namespaces = { system, documents: documents ?? [] };
    const { text, holdsDocuments } = await this.prompts.render({ promptId: '', ownerId: userId, namespaces });
    const attached = { parts: [], tokens: 0 };
    return messagesFor({ systemPrompt: text, holdsDocuments, documents, exchanges, question, attached, contextWindow });
  }
}
