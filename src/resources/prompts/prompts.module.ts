import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { GuardedTemplates } from './templates/guarded-templates.js';
import { CreatePromptHandler, DeletePromptHandler, UpdatePromptHandler } from './prompt.commands.js';
import { PromptRenderer } from './prompt.port.js';
import { PromptsController } from './prompts.http.js';
import { StoredPromptRenderer } from './stored-prompt-renderer.js';
import { TemplateEngine } from './templates/template-engine.port.js';
import { promptsRejections } from './prompts.rejections.js';

@Module({
  controllers: [PromptsController],
  providers: [
    PromptQueries,
    { provide: GuardedTemplates, useFactory: () => new GuardedTemplates() },
    { provide: TemplateEngine, useExisting: GuardedTemplates },
    { provide: PromptRenderer, useClass: StoredPromptRenderer },
    CreatePromptHandler,
    UpdatePromptHandler,
    DeletePromptHandler,
  ],
  exports: [PromptQueries, PromptRenderer, TemplateEngine],
})
export class PromptsModule implements OnApplicationShutdown {
  static readonly rejections = promptsRejections;

  constructor(private readonly templates: GuardedTemplates) {}

  /** Closes the templates late in the shutdown, because turns that finish during it still render prompts. */
  onApplicationShutdown(): Promise<void> {
    return this.templates.close();
  }
}
