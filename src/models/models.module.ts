import { Module } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { OfflineLanguageModel } from '../platform/language-models/offline-language-model.js';
import { RegisteredLanguageModels } from '../platform/language-models/registered-language-models.js';
import { LanguageModels } from './language-model.port.js';
import { ModelsController } from './models.http.js';

@Module({
  controllers: [ModelsController],
  providers: [
    {
      provide: LanguageModels,
      inject: [Config],
      useFactory: (_config: Config) => new RegisteredLanguageModels({ providers: [new OfflineLanguageModel()] }),
    },
  ],
  exports: [LanguageModels],
})
export class ModelsModule {}
