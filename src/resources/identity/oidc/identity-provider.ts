import { compactVerify, createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { LRUCache } from 'lru-cache';
import type { Claims } from './claims.policy.js';
import type { OidcSettings } from './oidc-options.js';

/** The provider did not answer, or answered with a temporary failure. A retry may succeed. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
}

/** The provider refused, or its answer failed a check. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
}

/** The secrets of a sign-in, which are checked when the browser returns. */
export type LoginSecrets = Readonly<{ state: string; nonce: string; verifier: string }>;

/** The result of a sign-in: the provider's user and, if the provider issues one, a refresh token. */
export type Grant = Readonly<{
  issuer: string;
  subject: string;
  sid: string | null;
  claims: Claims;
  refreshToken: string | undefined;
}>;

/** A request of the provider to end one session, or all sessions of a user. */
export type LogoutToken = Readonly<{ issuer: string; subject: string | undefined; sid: string | undefined; id: string }>;

const DISCOVERY_MS_MAX = 60 * 60_000;
const TIMEOUT_SECONDS = 10;
/** The difference between the clocks of the service and the provider, in seconds. Providers do not repeat a logout that gets 400. */
const CLOCK_TOLERANCE_SECONDS = 180;
/**
 * How soon after it has fetched the provider's keys the service fetches them again because a token names an unknown one. Anybody can
 * send such a token, and a provider does not repeat a logout that was refused because its key was new.
 */
const KEYS_AGAIN_MS = 1_000;
/** Maximum age of a logout token. A token is accepted only once. */
export const LOGOUT_TOKEN_SECONDS_MAX = 600;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Only asymmetric algorithms. If clients shared a signing secret, another client could forge a token. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

/** The provider at which users sign in with OpenID Connect, by the code flow with PKCE and nonce. */
export class IdentityProvider {
  private readonly discovered = new LRUCache<'provider', Promise<Discovered>>({ max: 1, ttl: DISCOVERY_MS_MAX });

  constructor(private readonly settings: OidcSettings) {}

  newSecrets(): LoginSecrets {
    return { state: client.randomState(), nonce: client.randomNonce(), verifier: client.randomPKCECodeVerifier() };
  }

  /** The URL at the provider to which the browser is sent. @throws ProviderUnavailable */
  async loginUrl({ state, nonce, verifier }: LoginSecrets, redirectUri: string): Promise<string> {
    const { configuration } = await this.provider();
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.settings.scopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).href;
  }

  /** Exchanges the code of a callback for a grant. @throws ProviderUnavailable, ProviderRefused */
  async redeem(callback: URL, { state, nonce, verifier }: LoginSecrets): Promise<Grant> {
    const { configuration, keys } = await this.provider();
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const tokens = await refusing(() => signed(client.authorizationCodeGrant(configuration, callback, checks), keys));
    return this.grantOf(configuration, tokens, tokens.claims()!);
  }

  /** @throws ProviderUnavailable, ProviderRefused */
  async refresh(refreshToken: string, subject: string): Promise<Grant> {
    const { configuration, keys } = await this.provider();
    const tokens = await refusing(() => signed(client.refreshTokenGrant(configuration, refreshToken), keys));
    const claims = tokens.claims() ?? { sub: subject };
    if (claims.sub !== subject) throw new ProviderRefused('The provider renewed the session of another user.');
    return this.grantOf(configuration, tokens, claims);
  }

  /** @throws ProviderUnavailable, ProviderRefused */
  async logoutToken(token: string): Promise<LogoutToken> {
    const { issuer, keys } = await this.provider();
    const claims = await refusing(async () => {
      const checks = {
        issuer,
        audience: this.settings.clientId,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      };
      const required = { requiredClaims: ['iat', 'jti', 'events'], maxTokenAge: LOGOUT_TOKEN_SECONDS_MAX };
      return (await jwtVerify(token, keys, { ...checks, ...required })).payload;
    });
    const { sub: subject, sid, jti: id } = claims;
    if (!isLogout(claims) || 'nonce' in claims) throw new ProviderRefused('The token is not a logout token.');
    if (sid !== undefined && typeof sid !== 'string') throw new ProviderRefused('The sid of the logout token is not a string.');
    if (subject === undefined && sid === undefined) throw new ProviderRefused('The logout token has neither a sub nor a sid.');
    return { issuer, subject, sid, id: id! };
  }

  /** The URL at which browsers sign out. Undefined if the provider has none. @throws ProviderUnavailable */
  async logoutUrl(returnTo: string): Promise<string | undefined> {
    const { configuration } = await this.provider();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
  }

  private async grantOf(
    configuration: client.Configuration,
    tokens: client.TokenEndpointResponse,
    idClaims: Claims & Readonly<{ sub: string }>,
  ): Promise<Grant> {
    const { sub: subject, sid } = idClaims;
    const claims = { ...(await this.moreClaims(configuration, tokens.access_token, idClaims)), ...idClaims };
    const { issuer } = configuration.serverMetadata();
    return { issuer, subject, sid: typeof sid === 'string' ? sid : null, claims, refreshToken: tokens.refresh_token };
  }

  /** The claims of the userinfo endpoint, where some providers put the groups. Empty if they are not needed or not available. */
  private async moreClaims(configuration: client.Configuration, accessToken: string, idClaims: Claims): Promise<Claims> {
    const { userIdClaim, allowedGroups, adminGroups, groupsClaim } = this.settings;
    const needsGroups = allowedGroups.length + adminGroups.length > 0 && idClaims[groupsClaim] === undefined;
    if (idClaims[userIdClaim] !== undefined && !needsGroups) return {};
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return client.fetchUserInfo(configuration, accessToken, String(idClaims['sub'])).catch(() => ({}));
  }

  /** The provider's configuration, cached for an hour. A failure is not cached. */
  private async provider(): Promise<Discovered> {
    const known = this.discovered.get('provider') ?? this.discover();
    if (!this.discovered.has('provider')) this.discovered.set('provider', known);
    try {
      return await known;
    } catch (error) {
      this.discovered.delete('provider');
      throw new ProviderUnavailable(`The provider was not found at ${this.settings.issuer}.`, { cause: error });
    }
  }

  private async discover(): Promise<Discovered> {
    const { issuer, clientId, clientSecret } = this.settings;
    const url = new URL(issuer);
    const configuration = await client.discovery(
      url,
      clientId,
      { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      clientSecret === undefined ? client.None() : bySecret(clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        execute: url.protocol === 'http:' ? [client.allowInsecureRequests] : [],
      },
    );
    const metadata = configuration.serverMetadata();
    return {
      configuration,
      issuer: metadata.issuer,
      keys: createRemoteJWKSet(new URL(metadata.jwks_uri!), {
        timeoutDuration: TIMEOUT_SECONDS * 1000,
        cooldownDuration: KEYS_AGAIN_MS,
      }),
    };
  }
}

type Keys = ReturnType<typeof createRemoteJWKSet>;
type Discovered = Readonly<{ configuration: client.Configuration; issuer: string; keys: Keys }>;

/**
 * Checks the signature of the ID token, if there is one. The provider itself sent the token, so an unknown key is a new one: the
 * keys are fetched again at once, because the code or refresh token is used up and the exchange cannot be repeated.
 */
async function signed<T extends client.TokenEndpointResponse>(exchange: Promise<T>, keys: Keys): Promise<T> {
  const tokens = await exchange;
  const { id_token: idToken } = tokens;
  if (idToken === undefined) return tokens;
  const verify = () => compactVerify(idToken, keys, { algorithms: ALGORITHMS });
  await verify().catch(async (error: unknown) => {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    await keys.reload();
    await verify();
  });
  return tokens;
}

/** Sends the client's secret in the body if the provider supports that, otherwise in the header, which all have to support. */
const bySecret =
  (secret: string): client.ClientAuth =>
  (server, ...request) => {
    const inBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') ?? false;
    (inBody ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret))(server, ...request);
  };

const isLogout = ({ events }: JWTPayload): boolean => typeof events === 'object' && events !== null && LOGOUT_EVENT in events;

/** @throws ProviderUnavailable, ProviderRefused */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isPassing(error)) throw new ProviderUnavailable('The provider does not answer.', { cause: error });
    throw new ProviderRefused(`The provider's answer was refused (${codeOf(error)}).`, { cause: error });
  }
}

const NO_ANSWER: ReadonlySet<unknown> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'ERR_JWKS_TIMEOUT',
  // The keys could not be fetched.
  'ERR_JOSE_GENERIC',
]);

/** Whether a retry may succeed: a network error, a timeout, or a failure of the provider. */
function isPassing(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  if (error instanceof client.ResponseBodyError) return isBusy(error.status);
  if (error instanceof client.ClientError || error instanceof errors.JOSEError)
    return NO_ANSWER.has(error.code) || (error.cause instanceof Response && isBusy(error.cause.status));
  return false;
}

const isBusy = (status: number): boolean => status >= 500 || status === 429;

/** The code of an error for the message. The error's own text may quote what was sent. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'unknown';
}
