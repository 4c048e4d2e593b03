import { Logger, Module, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { APP_GUARD, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Clock } from '../../kernel/clock.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { RateLimit } from '../../kernel/messaging/rate-limit.js';
import { Signals } from '../../kernel/messaging/signals.js';
import { Timing } from '../../kernel/timing.js';
import { Config } from '../../platform/config/config.js';
import { AccessGuard } from './access-guard.http.js';
import { DeviceDirectory } from './device-directory.port.js';
import { AgentKeyDirectory } from './agent-key-directory.port.js';
import { Authenticator } from './authenticator.js';
import { GeneratedTokens, LimitedRedeemedCodes, LimitedWrongCredentials } from './credential-limits.js';
import { identifyRequest, refuseForeignPages } from './identify-request.js';
import { SessionController } from './session.http.js';
import { SessionTokens } from './session-tokens.js';
import { AccessTokenDirectory } from './access-token-directory.port.js';
import { AskingLinks } from './links/asking-links.port.js';
import { OpenResponses } from './open-responses.js';
import { RedeemedCodes, WrongCredentials } from './client-limits.port.js';
import { RevocableCredentials } from './revocable-credentials.js';
import { LiveSessions } from './sessions/live-sessions.js';
import { StateSessionFactHandler } from './sessions/session.commands.js';
import { Sessions } from './sessions/sessions.port.js';
import { UserAccounts } from './accounts/user-accounts.port.js';
import { identityRejections } from './identity.rejections.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Determines the caller of every request. Other modules provide the directories of keys, links, access tokens and devices. */
@Module({
  controllers: [SessionController],
  providers: [
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: SessionTokens, inject: [Config], useFactory: (config: Config) => new SessionTokens(config.jwtSecretKey) },
    {
      provide: Authenticator,
      inject: [Config, SessionTokens, UserAccounts, LiveSessions],
      useFactory: (config: Config, tokens: SessionTokens, accounts: UserAccounts, sessions: LiveSessions) =>
        new Authenticator(config.authType, tokens, accounts, config.localModeAdmin, {
          sessions,
          hasAdminGroups: config.oidcAdminGroups.length > 0,
        }),
    },
    {
      provide: LiveSessions,
      inject: [Sessions, Timing],
      useFactory: (sessions: Sessions, timing: Timing) => new LiveSessions(sessions, timing),
    },
    {
      provide: OpenResponses,
      inject: [Clock, LiveSessions, ModuleRef, Timing, Signals],
      useFactory: (clock: Clock, sessions: LiveSessions, modules: ModuleRef, timing: Timing, signals: Signals) => {
        const tokens = () => modules.get(AccessTokenDirectory, { strict: false });
        const keys = () => modules.get(AgentKeyDirectory, { strict: false });
        const links = () => modules.get(AskingLinks, { strict: false });
        const devices = () => modules.get(DeviceDirectory, { strict: false });
        return new OpenResponses(new RevocableCredentials(clock, sessions, tokens, keys, links, devices), timing, signals);
      },
    },
    StateSessionFactHandler,
    {
      provide: WrongCredentials,
      inject: [KeyValue, Clock, Config],
      useFactory: (keyValue: KeyValue, clock: Clock, { wrongCredentialsPerMinuteMax: max }: Config) =>
        new LimitedWrongCredentials(new RateLimit(keyValue, clock, 'wrong-credentials', { max, windowMs: MINUTE_MS })),
    },
    {
      provide: RedeemedCodes,
      inject: [KeyValue, Clock, Config],
      useFactory: (keyValue: KeyValue, clock: Clock, { deviceRedeemsPerMinuteMax: max }: Config) =>
        new LimitedRedeemedCodes(new RateLimit(keyValue, clock, 'redeemed-codes', { max, windowMs: MINUTE_MS })),
    },
    {
      provide: GeneratedTokens,
      inject: [KeyValue, Clock, Config],
      useFactory: (keyValue: KeyValue, clock: Clock, { generatedTokensPerHourMax: max }: Config) =>
        new GeneratedTokens(new RateLimit(keyValue, clock, 'generated-tokens', { max, windowMs: HOUR_MS })),
    },
  ],
  exports: [Authenticator, SessionTokens, WrongCredentials, LiveSessions, OpenResponses, RedeemedCodes],
})
export class IdentityModule implements OnModuleInit, OnApplicationBootstrap {
  static readonly rejections = identityRejections;

  private readonly logger = new Logger(IdentityModule.name);

  constructor(
    private readonly authenticator: Authenticator,
    private readonly wrongCredentials: WrongCredentials,
    private readonly host: HttpAdapterHost,
    private readonly modules: ModuleRef,
    private readonly config: Config,
    private readonly responses: OpenResponses,
  ) {}

  onModuleInit() {
    const keys = () => this.modules.get(AgentKeyDirectory, { strict: false });
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance | undefined>();
    const { allowedOrigins } = this.config;
    const tokens = () => this.modules.get(AccessTokenDirectory, { strict: false });
    const devices = () => this.modules.get(DeviceDirectory, { strict: false });
    const links = () => this.modules.get(AskingLinks, { strict: false });
    const { authenticator, wrongCredentials, responses } = this;
    const directories = { keys, links, tokens, devices };
    const identify = identifyRequest(authenticator, directories, wrongCredentials, allowedOrigins, responses);
    fastify?.addHook('onRequest', identify);
    fastify?.addHook('preHandler', refuseForeignPages(this.authenticator.authType, allowedOrigins));
  }

  async onApplicationBootstrap() {
    if (this.authenticator.authType !== 'simple_jwt') return;
    this.logger.log(`All users sign in with this token: ${await this.authenticator.sharedToken()}`);
  }
}
