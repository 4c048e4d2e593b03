import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { GuardedTemplates } from './templates/guarded-templates.js';
import { CreatePromptHandler } from './create-prompt.command.js';
import { DeletePromptHandler } from './delete-prompt.command.js';
import { PromptRenderer } from './prompt.port.js';
import { PromptsController } from './prompts.http.js';
import { StoredPromptRenderer } from './stored-prompt-renderer.js';
import { TemplateEngine } from './templates/template-engine.port.js';
import { UpdatePromptHandler } from './update-prompt.command.js';

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
  exports: [PromptQueries, PromptRenderer],
})
export class PromptsModule implements OnApplicationShutdown {
  constructor(private readonly templates: GuardedTemplates) {}

  /** Turns that are finished during the shutdown still render. */
  onApplicationShutdown(): Promise<void> {
    return this.templates.close();
  }
}
