import { Injectable } from '@nestjs/common';
import { LanguageModels } from '../../models/model/language-model.port.js';
import { AccessibleReferences } from '../accessible-references.js';
import type { AgentConfiguration } from '../agent.events.js';

/** Copies the configuration of an agent for another user. */
@Injectable()
export class AdoptedAgents {
  constructor(
    private readonly references: AccessibleReferences,
    private readonly models: LanguageModels,
  ) {}

  /** The copy for a user, without resources that the user may not use and without the original's slug, folder and limits. */
  async of(original: AgentConfiguration, userId: string): Promise<AgentConfiguration> {
    const plain = { ...original, slug: '', folderId: null, tokenLimit: null, requestLimit: null, mcpAsk: false };
    const missing = await this.references.inaccessible([userId], plain);
    const usable = (id: string) => (missing.has(id) ? '' : id);
    const models = await Promise.all(original.models.map(async (id) => ((await this.models.has(id, userId)) ? [id] : [])));
    const hasDefault = original.defaultModelId !== '' && (await this.models.has(original.defaultModelId, userId));
    const { guardrails } = original.config;
    return {
      ...plain,
      source: usable(original.source),
      additionalSources: original.additionalSources.filter((id) => !missing.has(id)),
      promptId: usable(original.promptId),
      tools: original.tools.filter((id) => !missing.has(id)),
      workflowId: original.workflowId && usable(original.workflowId) ? original.workflowId : null,
      models: models.flat(),
      defaultModelId: hasDefault ? original.defaultModelId : '',
      // The new owner decides about the allowed origins and about the write actions of callers.
      config: guardrails ? { guardrails } : {},
    };
  }
}
