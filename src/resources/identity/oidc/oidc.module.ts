import { Logger, Module } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { RateLimit } from '../../../kernel/messaging/rate-limit.js';
import { Commands } from '../../../kernel/commands.js';
import { KeyValue } from '../../../kernel/messaging/key-value.js';
import { withoutTrailing } from '../../../kernel/trailing.js';
import { Config } from '../../../platform/config/config.js';
import { Seals } from '../../../platform/credentials/seals.port.js';
import { BegunSignIns } from '../credential-limits.js';
import { IdentityModule } from '../identity.module.js';
import { LiveSessions } from '../sessions/live-sessions.js';
import { Sessions } from '../sessions/sessions.port.js';
import { SessionTokens } from '../session-tokens.js';
import { UserAccounts } from '../accounts/user-accounts.port.js';
import { IdentityProvider } from './identity-provider.js';
import { HAND_OVER_MS_MAX, LOGIN_MS_MAX, OidcController } from './oidc.http.js';
import { OidcOptions, type OidcSettings } from './oidc-options.js';
import { OneTimeSecrets } from './one-time-secrets.js';
import { SessionEndings } from './session-endings.js';
import { SessionsController } from './sessions.http.js';
import { SignIn } from './sign-in.js';

/** Enough for all users of an office that share one address. Bounds the number of stored sign-ins. */
const SIGN_INS = { max: 600, windowMs: 60_000 };

function settingsIn(config: Config): OidcSettings | undefined {
  if (config.authType !== 'oidc') return undefined;
  return {
    issuer: config.oidcIssuer!,
    clientId: config.oidcClientId!,
    clientSecret: config.oidcClientSecret,
    scopes: config.oidcScopes,
    userIdClaim: config.oidcUserIdClaim,
    frontendUrl: withoutTrailing(config.oidcFrontendUrl!, '/'),
    redirectUri: config.oidcRedirectUri,
    sessionLifetimeMs: config.oidcSessionLifetimeMs,
    providerName: config.oidcProviderName,
    allowedGroups: config.oidcAllowedGroups,
    groupsClaim: config.oidcGroupsClaim,
    adminGroups: config.oidcAdminGroups,
  };
}

type Parts = [OidcOptions, IdentityProvider, Seals, KeyValue, Commands, Clock, UserAccounts, Sessions, LiveSessions, SessionEndings, SessionTokens]; // oxfmt-ignore

/** Sign-in at a provider. Without AUTH_TYPE=oidc its routes exist but refuse every request. */
@Module({
  imports: [IdentityModule],
  controllers: [OidcController, SessionsController],
  providers: [
    SessionEndings,
    {
      provide: OidcOptions,
      inject: [Config],
      useFactory: (config: Config) => new OidcOptions(settingsIn(config), config.publicApiBaseUrl),
    },
    {
      provide: BegunSignIns,
      inject: [KeyValue, Clock],
      useFactory: (keyValue: KeyValue, clock: Clock) => new BegunSignIns(new RateLimit(keyValue, clock, 'sign-ins', SIGN_INS)),
    },
    {
      provide: IdentityProvider,
      inject: [OidcOptions],
      useFactory: ({ settings }: OidcOptions) => settings && new IdentityProvider(settings),
    },
    {
      provide: SignIn,
      inject: [OidcOptions, IdentityProvider, Seals, KeyValue, Commands, Clock, UserAccounts, Sessions, LiveSessions, SessionEndings, SessionTokens], // oxfmt-ignore
      useFactory: (
        ...[{ settings }, provider, seals, keyValue, commands, clock, accounts, sessions, live, endings, tokens]: Parts
      ) => {
        if (!settings) return undefined;
        const logger = new Logger(SignIn.name);
        return new SignIn({
          settings,
          provider,
          logins: new OneTimeSecrets(keyValue, seals, 'oidc-login', LOGIN_MS_MAX),
          handOvers: new OneTimeSecrets(keyValue, seals, 'oidc-hand-over', HAND_OVER_MS_MAX),
          accounts,
          sessions,
          live,
          endings,
          tokens,
          keyValue,
          commands,
          clock,
          warn: (text) => logger.warn(text),
        });
      },
    },
  ],
})
export class OidcModule {}
