import { Injectable } from '@nestjs/common';
import { Reaching } from '../identity/reaching.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { documentBlock } from './document-block.policy.js';
import { compose, type Composition, presetOf } from './presets.policy.js';
import { promptNotFound } from './prompt.decider.js';
import { type PromptNamespaces, PromptRenderer, type PromptRequest, type RenderedPrompt } from './prompt.port.js';
import { TemplateEngine, TemplateFailed } from './templates/template-engine.port.js';
import { cleanFileName, isTemplate, LEGACY_DOCUMENTS, placesDocuments, templateContext } from './template-namespaces.policy.js';

/** Renders presets and the prompts that users have stored. */
@Injectable()
export class StoredPromptRenderer extends PromptRenderer {
  constructor(
    private readonly prompts: PromptQueries,
    private readonly templates: TemplateEngine,
    private readonly reaching: Reaching,
  ) {
    super();
  }

  async render(request: PromptRequest): Promise<RenderedPrompt> {
    const preset = presetOf(request.promptId);
    const { agentic = false } = request;
    if (preset) return this.composed(request, { style: preset.style, agentic: preset.agentic || agentic });
    const content = await this.contentOf(request);
    if (content === undefined) return this.composed(request, { style: 'default', agentic });
    if (isTemplate(content)) return this.fill(content, request.namespaces);
    if (placesDocuments(content)) {
      const documents = documentBlock(request.namespaces.documents);
      return { text: content.replaceAll(LEGACY_DOCUMENTS, () => documents), holdsDocuments: true };
    }
    return this.composed(request, { style: 'default', agentic, persona: content });
  }

  /** The text of the prompt. Undefined if it is missing and the request allows the default. @throws Rejection prompt-not-found */
  private async contentOf({ promptId, ownerId, whenMissing = 'refuse' }: PromptRequest): Promise<string | undefined> {
    const prompt = isId(promptId) ? await this.prompts.byId(promptId) : undefined;
    if (prompt && (await this.reaching.isUsable(ownerId, prompt, 'prompts'))) return prompt.content;
    if (whenMissing === 'refuse') throw promptNotFound();
    return undefined;
  }

  private composed({ namespaces }: PromptRequest, composition: Composition): RenderedPrompt {
    const { system, attachments = [] } = namespaces;
    const today = `It is ${system.now.toISOString().slice(0, 10)} (UTC).`;
    const files = attachments.map(({ filename }) => cleanFileName(filename));
    return { text: compose({ ...composition, today, attachments: files }), holdsDocuments: false };
  }

  async fill(text: string, namespaces: PromptNamespaces): Promise<RenderedPrompt> {
    if (!isTemplate(text)) return { text, holdsDocuments: false };
    try {
      return { text: await this.templates.render(text, templateContext(namespaces)), holdsDocuments: placesDocuments(text) };
    } catch (error) {
      if (error instanceof TemplateFailed) throw new Rejection('prompt-not-renderable', error.message);
      throw error;
    }
  }
}
