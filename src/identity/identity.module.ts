import { Logger, Module, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Config } from '../platform/config/config.js';
import { AgentKeyDirectory } from './agent-key-directory.port.js';
import { Authenticator } from './authenticator.js';
import { identifyRequest } from './identify-request.js';
import { SessionController } from './session.http.js';
import { SessionTokens } from './session-tokens.js';

/** Who calls, settled for every request of the application. Whoever keeps agents provides the directory of their keys. */
@Module({
  controllers: [SessionController],
  providers: [
    { provide: SessionTokens, inject: [Config], useFactory: (config: Config) => new SessionTokens(config.jwtSecretKey) },
    {
      provide: Authenticator,
      inject: [Config, SessionTokens],
      useFactory: (config: Config, tokens: SessionTokens) => new Authenticator(config.authType, tokens, config.localModeAdmin),
    },
  ],
  exports: [Authenticator, SessionTokens],
})
export class IdentityModule implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger(IdentityModule.name);

  constructor(
    private readonly authenticator: Authenticator,
    private readonly host: HttpAdapterHost,
    private readonly modules: ModuleRef,
  ) {}

  onModuleInit() {
    const directory = () => this.modules.get(AgentKeyDirectory, { strict: false });
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance | undefined>();
    fastify?.addHook('onRequest', identifyRequest(this.authenticator, directory));
  }

  async onApplicationBootstrap() {
    if (this.authenticator.authType !== 'simple_jwt') return;
    this.logger.log(`Everybody signs in with this token: ${await this.authenticator.sharedToken()}`);
  }
}
