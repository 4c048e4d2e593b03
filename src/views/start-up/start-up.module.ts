import { Module } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { EmptyListsController } from './empty-lists.http.js';
import { NotBuiltController } from './not-built.http.js';
import { StartUpController, StartUpOptions } from './start-up.http.js';
import { startUpRejections } from './start-up.rejections.js';

/** The routes that existing clients call when they start and that belong to no feature. */
@Module({
  controllers: [StartUpController, EmptyListsController, NotBuiltController],
  providers: [
    {
      provide: StartUpOptions,
      inject: [Config],
      useFactory: ({ authType, embeddingsModel, oidcProviderName }: Config) => {
        const paths = { login_path: '/api/auth/oidc/login', logout_path: '/api/auth/oidc/logout' };
        const oidc = authType === 'oidc' ? { ...paths, provider_name: oidcProviderName ?? null } : undefined;
        return new StartUpOptions(authType, embeddingsModel !== undefined, oidc);
      },
    },
  ],
})
export class StartUpModule {
  static readonly rejections = startUpRejections;
}
