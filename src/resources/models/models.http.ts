import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { LanguageModels, type ModelDescription, ModelFailed } from './model/language-model.port.js';
import type { SignedInUser } from '../identity/caller.js';
import { UserIfSignedIn } from '../identity/identity.http.js';
import { Access } from '../../platform/http/access.js';

/** The models that agents may use. Anyone may list the models of the service; a signed-in user also gets the custom models. */
@ApiTags('Models')
@Controller('api/models')
export class ModelsController {
  constructor(private readonly models: LanguageModels) {}

  @ApiOperation({ summary: 'The models that agents may use, the user’s own among them' })
  @Access({ for: 'anyone', action: 'describe', of: 'models', scopes: ['models:read', 'chat:run'] })
  @Get()
  async list(@UserIfSignedIn() user: SignedInUser | undefined) {
    const models = await this.models.list(user?.userId);
    return { models: models.map(modelRecord), default_model_id: await this.defaultModelId(), count: models.length };
  }

  /** Null until the endpoint that serves the models has been reached once. */
  private async defaultModelId(): Promise<string | null> {
    try {
      return await this.models.defaultModelId();
    } catch (error) {
      if (error instanceof ModelFailed) return null;
      throw error;
    }
  }
}

const modelRecord = (model: ModelDescription) => ({
  id: model.id,
  provider: model.provider,
  display_name: model.displayName,
  description: model.description,
  supported_attachment_types: model.attachmentTypes,
  supports_tools: model.tools,
  supports_structured_output: model.structuredOutput,
  supports_streaming: model.streaming,
  context_window: model.contextWindow,
  api_flavor: 'chat_completions',
  reasoning_effort: model.reasoningEffort,
  enabled: true,
  source: model.isCustom ? 'user' : 'builtin',
});
