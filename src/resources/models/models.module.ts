import { Global, Module } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { openLanguageModels } from './open-language-models.js';
import { Embeddings } from './model/embeddings.port.js';
import { LanguageModels } from './model/language-model.port.js';
import { OpenAiEmbeddings } from './openai/openai-embeddings.js';
import { ModelsController } from './models.http.js';

/** The models: language models, and embeddings, where one is configured. */
@Global()
@Module({
  controllers: [ModelsController],
  providers: [
    { provide: LanguageModels, inject: [Config], useFactory: (config: Config) => openLanguageModels(config) },
    {
      provide: Embeddings,
      inject: [Config],
      useFactory: ({ embeddingsModel: model, openaiBaseUrl, openaiApiKey }: Config) =>
        model === undefined
          ? undefined
          : new OpenAiEmbeddings({
              model,
              ...(openaiBaseUrl && { baseUrl: openaiBaseUrl }),
              ...(openaiApiKey && { apiKey: openaiApiKey }),
            }),
    },
  ],
  exports: [LanguageModels, Embeddings],
})
export class ModelsModule {}
