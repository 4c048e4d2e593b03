import { Global, Module } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { openLanguageModels } from './open-language-models.js';
import { LanguageModels } from './model/language-model.port.js';
import { ModelsController } from './models.http.js';

/** The language models, for whoever asks one. */
@Global()
@Module({
  controllers: [ModelsController],
  providers: [{ provide: LanguageModels, inject: [Config], useFactory: (config: Config) => openLanguageModels(config) }],
  exports: [LanguageModels],
})
export class ModelsModule {}
