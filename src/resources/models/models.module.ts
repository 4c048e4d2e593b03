import { Global, Module } from '@nestjs/common';
import { Config, ConfigInvalid } from '../../platform/config/config.js';
import { CustomModelQueries } from '../../../projections/custom-models/custom-models.queries.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Timing } from '../../kernel/timing.js';
import { OutgoingHttp } from '../../platform/outgoing/outgoing-http.port.js';
import { customModelHandlers } from './custom/custom-model.commands.js';
import { CustomModelEndpoints } from './custom/custom-model-endpoints.js';
import { CustomModelTests } from './custom/custom-model-tests.js';
import { CustomModelsController } from './custom/custom-models.http.js';
import { customModelsRejections } from './custom/custom-models.rejections.js';
import { LanguageModelsWithCustom } from './custom/language-models-with-custom.js';
import { PurgeCustomModelKeys } from './custom/purge-custom-model-keys.reaction.js';
import { PortableModels } from './custom/portable-models.port.js';
import { StoredPortableModels } from './custom/stored-portable-models.js';
import { StoredModelKeys } from './custom/stored-model-keys.js';
import { ModelFailureLog } from './openai/model-failure-log.js';
import type { ModelOverride } from './model-overrides.js';
import { openCustomEndpoint, openLanguageModels, overridesIn } from './open-language-models.js';
import { Embeddings } from './model/embeddings.port.js';
import { LanguageModels } from './model/language-model.port.js';
import { ProviderModels } from './model/provider-models.port.js';
import { Speech } from './model/speech.port.js';
import { OpenAiSpeech } from './openai/openai-speech.js';
import { OpenAiEmbeddings } from './openai/openai-embeddings.js';
import { ModelsController } from './models.http.js';

const REACTIONS = [PurgeCustomModelKeys];

type LanguageModelsParts = readonly [Config, CustomModelQueries, Streams, CustomModelEndpoints, Timing];

/** Language models, including the users' custom models, and models for embeddings and speech if they are configured. */
@Global()
@Module({
  controllers: [ModelsController, CustomModelsController],
  providers: [
    ...REACTIONS,
    CustomModelQueries,
    CustomModelTests,
    StoredModelKeys,
    ...customModelHandlers,
    { provide: PortableModels, useClass: StoredPortableModels },
    {
      provide: CustomModelEndpoints,
      inject: [Config, StoredModelKeys, OutgoingHttp],
      useFactory: (config: Config, keys: StoredModelKeys, outgoing: OutgoingHttp) =>
        new CustomModelEndpoints(keys, (endpoint) => openCustomEndpoint(config, outgoing, endpoint)),
    },
    {
      provide: LanguageModels,
      inject: [Config, CustomModelQueries, Streams, CustomModelEndpoints, Timing],
      useFactory: (...[config, queries, streams, endpoints, timing]: LanguageModelsParts) => {
        const log = new ModelFailureLog(timing);
        const builtIn = openLanguageModels(config, (...failed) => log.note(...failed));
        return new LanguageModelsWithCustom(builtIn, queries, streams, endpoints);
      },
    },
    {
      provide: ProviderModels,
      inject: [Config],
      useFactory: (config: Config): ProviderModels => ({
        withKey: (openaiApiKey) => openLanguageModels({ ...config, openaiApiKey }),
      }),
    },
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
    {
      provide: Speech,
      inject: [Config],
      useFactory: ({ sttModel: hearing, ttsModel: speaking, ttsVoice: voice, openaiBaseUrl, openaiApiKey }: Config) =>
        new OpenAiSpeech(
          { ...(openaiBaseUrl && { baseUrl: openaiBaseUrl }), ...(openaiApiKey && { apiKey: openaiApiKey }) },
          { hearing, speaking, voice },
        ),
    },
  ],
  exports: [...REACTIONS, Speech, LanguageModels, ProviderModels, Embeddings, CustomModelQueries, PortableModels],
})
export class ModelsModule {
  static readonly reactions = REACTIONS;
  static readonly rejections = customModelsRejections;

  /** The operator's descriptions of models. @throws ConfigInvalid that names the variable */
  static settingsIn(this: void, { modelsFile }: Config): Readonly<Record<string, ModelOverride>> {
    try {
      return modelsFile === undefined ? {} : overridesIn(modelsFile);
    } catch (error) {
      throw new ConfigInvalid([(error as Error).message]);
    }
  }
}
