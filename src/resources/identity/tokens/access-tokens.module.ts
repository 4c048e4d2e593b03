import { Module } from '@nestjs/common';
import { AccessTokenQueries } from '../../../../projections/access-tokens/access-tokens.queries.js';
import { Config } from '../../../platform/config/config.js';
import { AccessTokenRules, accessTokenHandlers } from './access-token.commands.js';
import { AccessTokenDirectory } from '../access-token-directory.port.js';
import { AccessTokensController } from './access-tokens.http.js';
import { accessTokensRejections } from './access-tokens.rejections.js';
import { StoredAccessTokens } from './stored-access-tokens.js';

@Module({
  controllers: [AccessTokensController],
  providers: [
    AccessTokenQueries,
    {
      provide: AccessTokenRules,
      inject: [Config],
      useFactory: (config: Config) =>
        new AccessTokenRules({
          enabled: config.accessTokensEnabled,
          defaultLifetimeDays: config.accessTokenDefaultDays,
          maxLifetimeDays: config.accessTokenDaysMax,
          allowNonExpiring: config.accessTokensNonExpiring,
          maxPerUser: config.accessTokensPerUserMax,
        }),
    },
    { provide: AccessTokenDirectory, useClass: StoredAccessTokens },
    ...accessTokenHandlers,
  ],
  exports: [AccessTokenDirectory],
})
export class AccessTokensModule {
  static readonly rejections = accessTokensRejections;
}
