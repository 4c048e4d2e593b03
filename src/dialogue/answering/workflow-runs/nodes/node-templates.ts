import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../kernel/clock.js';
import { Rejection } from '../../../../kernel/rejection.js';
import { type PromptDocument, PromptRenderer, type RenderedPrompt } from '../../../../resources/prompts/prompt.port.js';
import { AnsweringOptions } from '../../loop/answering-options.js';
import type { NodeContext } from './node-context.js';

/**
 * Renders the templates of nodes with the state of their run. If rendering fails, the template is used unrendered and the step
 * records a problem.
 */
@Injectable()
export class NodeTemplates {
  constructor(
    private readonly prompts: PromptRenderer,
    private readonly clock: Clock,
    private readonly options: AnsweringOptions,
  ) {}

  async render(
    template: string,
    { transcript, state, result }: NodeContext,
    documents: readonly PromptDocument[] = [],
  ): Promise<RenderedPrompt> {
    const { settings, requestId } = transcript.asked;
    try {
      return await this.prompts.fill(template, {
        system: { now: this.clock.now(), requestId, userId: transcript.ownerId, apiBaseUrl: this.options.settings.apiBaseUrl },
        passthrough: settings.passthrough,
        documents,
        attachments: settings.attachments ?? [],
        variables: await state.readableBy(template),
        artifacts: state.artifacts,
      });
    } catch (error) {
      if (!(error instanceof Rejection) || error.code !== 'prompt-not-renderable') throw error;
      const problem = `A template could not be rendered and is used as it is written: ${error.message}`;
      result.problems.push(problem);
      result.notices.push(problem);
      return { text: template, holdsDocuments: false };
    }
  }
}
