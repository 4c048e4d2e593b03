import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { PromptRenderer } from '../../../resources/prompts/prompt.port.js';
import { AnsweringOptions } from '../loop/answering-options.js';
import type { Transcript } from '../loop/transcript.js';

/**
 * Renders the prompt of a turn's agent or of a workflow's node, without documents. The prompts of all research steps and of the
 * final answer begin with it.
 */
@Injectable()
export class AgentPrompt {
  constructor(
    private readonly prompts: PromptRenderer,
    private readonly clock: Clock,
    private readonly options: AnsweringOptions,
  ) {}

  async of({ asked, ownerId, systemPrompt: ofNode }: Transcript): Promise<string> {
    const { settings, requestId } = asked;
    if (ofNode) return (await ofNode([])).text;
    if (settings.systemPrompt !== undefined) return settings.systemPrompt;
    const { text } = await this.prompts.render({
      promptId: settings.promptId,
      ownerId: settings.configurationOwnerId,
      whenMissing: 'use-default',
      namespaces: {
        system: { now: this.clock.now(), requestId, userId: ownerId, apiBaseUrl: this.options.settings.apiBaseUrl },
        passthrough: settings.passthrough,
        documents: [],
        attachments: settings.attachments ?? [],
      },
    });
    return text;
  }
}
