import { Module, type OnModuleDestroy } from '@nestjs/common';
import { PromptQueries } from '../../projections/prompts/prompts.queries.js';
import { CreatePromptHandler } from './create-prompt.command.js';
import { DeletePromptHandler } from './delete-prompt.command.js';
import { PromptRenderer } from './prompt.port.js';
import { PromptsController } from './prompts.http.js';
import { StoredPromptRenderer } from './stored-prompt-renderer.js';
import { TemplateEngine } from './template-engine.js';
import { UpdatePromptHandler } from './update-prompt.command.js';

@Module({
  controllers: [PromptsController],
  providers: [
    PromptQueries,
    { provide: TemplateEngine, useFactory: () => new TemplateEngine() },
    { provide: PromptRenderer, useClass: StoredPromptRenderer },
    CreatePromptHandler,
    UpdatePromptHandler,
    DeletePromptHandler,
  ],
  exports: [PromptQueries, PromptRenderer],
})
export class PromptsModule implements OnModuleDestroy {
  constructor(private readonly templates: TemplateEngine) {}

  onModuleDestroy() {
    return this.templates.close();
  }
}
