import { createHash } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { newId } from '../../../kernel/ids.js';
import type { KeyValue } from '../../../kernel/messaging/key-value.js';
import { Rejection } from '../../../kernel/rejection.js';
import { invalidToken, tokenRevoked } from '../identity.rejections.js';
import type { SessionTokens } from '../session-tokens.js';
import type { LiveSessions } from '../sessions/live-sessions.js';
import { StateSessionFact } from '../sessions/session.commands.js';
import type { SessionEndings } from './session-endings.js';
import type { LiveSession, Sessions } from '../sessions/sessions.port.js';
import { NO_LABEL, type UserAccounts } from '../accounts/user-accounts.port.js';
import { groupsIn, isAdmin, isAllowed, labelIn, userIdIn } from './claims.policy.js';
import {
  type Grant,
  type IdentityProvider,
  LOGOUT_TOKEN_SECONDS_MAX,
  type LoginSecrets,
  ProviderRefused,
  ProviderUnavailable,
} from './identity-provider.js';
import type { OidcSettings } from './oidc-options.js';
import type { OneTimeSecrets } from './one-time-secrets.js';

/** The reason of a failed sign-in, which the web client receives. */
export type SignInError = 'invalid_state' | 'auth_failed' | 'missing_claim' | 'not_authorized';

export type Callback = Readonly<{
  state: string | undefined;
  cookie: string | undefined;
  url: URL;
  client: string | null;
  requestId: string;
}>;

export type SignInParts = Readonly<{
  settings: OidcSettings;
  provider: IdentityProvider;
  /** The secrets of started sign-ins, by `state`. */
  logins: OneTimeSecrets<LoginSecrets>;
  /** The sessions whose token the web client has not fetched yet, by its code. */
  handOvers: OneTimeSecrets<Readonly<{ sessionId: string }>>;
  accounts: UserAccounts;
  sessions: Sessions;
  live: LiveSessions;
  endings: SessionEndings;
  tokens: SessionTokens;
  keyValue: KeyValue;
  commands: Commands;
  clock: Clock;
  /** Logs for operators why a sign-in failed, without what was sent. */
  warn: (text: string) => void;
}>;

/**
 * Sign-in at a provider. The browser is sent there and returns with a code. The service exchanges the code, starts a session, and
 * the web client fetches the session's token once. All state is shared, so each step may run in another process.
 */
export class SignIn {
  constructor(private readonly parts: SignInParts) {}

  /**
   * The URL at which the browser signs in, and the state that it has to return as a cookie.
   * @throws Rejection oidc-idp-unavailable
   */
  async begin(redirectUri: string): Promise<Readonly<{ url: string; state: string }>> {
    const { provider, logins } = this.parts;
    const secrets = provider.newSecrets();
    const url = await provider.loginUrl(secrets, redirectUri).catch((error: unknown) => this.unavailable(error));
    await logins.keep(secrets.state, secrets);
    return { url, state: secrets.state };
  }

  /** The code that the web client exchanges for its token, or the reason why the sign-in failed. */
  async finish({
    state,
    cookie,
    url,
    client,
    requestId,
  }: Callback): Promise<Readonly<{ code: string } | { error: SignInError }>> {
    // The callback of another browser's sign-in would sign this browser in as another user.
    if (!state || state !== cookie) return { error: 'invalid_state' };
    try {
      const secrets = await this.parts.logins.take(state);
      if (!secrets) return { error: 'invalid_state' };
      return await this.admit(await this.parts.provider.redeem(url, secrets), client, requestId);
    } catch (error) {
      // For every error, the browser returns to the web client, where the user can try again.
      this.parts.warn(`A sign-in failed: ${reasonOf(error)}`);
      return { error: 'auth_failed' };
    }
  }

  /** The token of the session that a code stands for. @throws Rejection oidc-invalid-code */
  async handOver(code: unknown): Promise<string> {
    const held = typeof code === 'string' ? await this.parts.handOvers.take(code) : undefined;
    const session = held && (await this.parts.sessions.find(held.sessionId));
    if (!session) throw new Rejection('oidc-invalid-code', 'The code is unknown, used or too old.');
    return this.tokenOf(session);
  }

  /**
   * Renews the session of a token, and returns the new token.
   * @throws Rejection invalid-token, token-expired, token-revoked, oidc-no-refresh-token, oidc-not-authorized, oidc-refresh-…
   */
  async refresh(token: string | undefined, requestId: string): Promise<string> {
    const { tokens, sessions, provider } = this.parts;
    const { provided } = await tokens.verify(token ?? '');
    if (!provided) throw invalidToken();
    const before = await sessions.find(provided.sessionId);
    if (!before) throw tokenRevoked();
    const taken = await sessions.takeRefreshToken(provided.sessionId, provided.generation);
    if (taken === 'none') throw new Rejection('oidc-no-refresh-token', 'The session cannot be renewed with this token.');
    if (taken === 'in-use')
      throw new Rejection('oidc-refresh-unavailable', 'Another request renews the session. Please try again.');
    const { refreshToken } = taken;
    let grant: Grant;
    try {
      grant = await provider.refresh(refreshToken, before.provider.subject);
    } catch (error) {
      const isPassing = !(error instanceof ProviderRefused);
      await sessions.settleRefreshToken(provided.sessionId, isPassing ? 'kept' : 'dropped');
      if (!isPassing) {
        this.parts.warn(`A session was not renewed: ${error.message}`);
        throw new Rejection('oidc-refresh-failed', 'The provider does not renew the session.');
      }
      if (!(error instanceof ProviderUnavailable)) throw error;
      throw new Rejection('oidc-refresh-unavailable', 'The provider does not answer. Please try again.');
    }
    return this.renew(before, grant, grant.refreshToken ?? refreshToken, requestId);
  }

  /**
   * Ends the sessions that a logout token of the provider names. Each token is accepted once.
   * @throws ProviderRefused, ProviderUnavailable, and the error of a store if the sessions could not be ended
   */
  async logout(token: string, requestId: string): Promise<void> {
    const { provider, endings, keyValue } = this.parts;
    const { issuer, subject, sid, id } = await provider.logoutToken(token);
    const key = `oidc-logout.${createHash('sha256').update(id).digest('hex')}`;
    // Longer than the maximum age of a logout token.
    const isNew = await keyValue.create(key, '', { ttlMs: 2 * LOGOUT_TOKEN_SECONDS_MAX * 1000 });
    if (!isNew) throw new ProviderRefused('The logout token was used before.');
    try {
      await endings.endAtProvider({ issuer, subject, sid }, causeOf('system:oidc-logout', requestId));
    } catch (error) {
      await keyValue.delete(key).catch(() => undefined);
      throw error;
    }
  }

  private async admit(
    grant: Grant,
    client: string | null,
    requestId: string,
  ): Promise<Readonly<{ code: string } | { error: SignInError }>> {
    const { settings, accounts, sessions, handOvers, commands } = this.parts;
    const { issuer, subject, sid, claims, refreshToken } = grant;
    const value = userIdIn(claims, settings.userIdClaim);
    if (value === undefined) return this.refuse('missing_claim', null, requestId);
    const userId = await accounts.idOf({ issuer, claim: settings.userIdClaim, value });
    const groups = groupsIn(claims, settings.groupsClaim);
    if (!isAllowed(groups, settings.allowedGroups)) return this.refuse('not_authorized', userId, requestId);
    await accounts.describe(userId, labelIn(claims));
    await this.takeAdminGroup(userId, groups);
    const [sessionId, code] = [newId(), handOvers.newSecret()];
    const provider = { issuer, subject, sid };
    await sessions.begin({ sessionId, userId, provider, refreshToken, expiresAt: this.expiry(), client });
    try {
      const fact = { type: 'SessionStarted', data: { sessionId, userId, issuer } } as const;
      await commands.execute(new StateSessionFact(fact, causeOf(`user:${userId}`, requestId)));
      await handOvers.keep(code, { sessionId });
    } catch (error) {
      // The user cannot get the token of this session, so it is ended.
      await sessions.end(userId, sessionId).catch(() => undefined);
      throw error;
    }
    return { code };
  }

  private async refuse(error: SignInError, userId: string | null, requestId: string): Promise<Readonly<{ error: SignInError }>> {
    const fact = { type: 'SignInRefused', data: { attemptId: newId(), userId, reason: error } } as const;
    const actor = userId === null ? 'system:oidc-sign-in' : `user:${userId}`;
    await this.parts.commands.execute(new StateSessionFact(fact, causeOf(actor, requestId)));
    return { error };
  }

  /**
   * Renews a session. Groups that the provider reports are checked again. If it reports none, the earlier check remains valid.
   */
  private async renew(before: LiveSession, grant: Grant, refreshToken: string, requestId: string): Promise<string> {
    const { settings, accounts, sessions, live, endings } = this.parts;
    const { sessionId, userId } = before;
    const groups = groupsIn(grant.claims, settings.groupsClaim);
    if (groups !== undefined && !isAllowed(groups, settings.allowedGroups)) {
      await endings.end(userId, sessionId, 'not-allowed', causeOf('system:oidc-refresh', requestId));
      throw new Rejection('oidc-not-authorized', 'The user is in none of the groups that may sign in.');
    }
    await this.takeAdminGroup(userId, groups);
    const label = labelIn(grant.claims);
    if (Object.values(label).some((text) => text !== null)) await accounts.describe(userId, label);
    const renewed = await sessions.renew(sessionId, { refreshToken, sid: grant.sid, expiresAt: this.expiry() });
    live.forget(sessionId);
    if (!renewed) throw tokenRevoked();
    return this.tokenOf(renewed);
  }

  private async takeAdminGroup(userId: string, groups: readonly string[] | undefined): Promise<void> {
    const inGroup = isAdmin(groups, this.parts.settings.adminGroups);
    if (inGroup !== undefined) await this.parts.sessions.setInAdminGroup(userId, inGroup);
  }

  private async tokenOf({ sessionId, generation, userId, provider, expiresAt }: LiveSession): Promise<string> {
    const label = (await this.parts.accounts.labelsOf([userId])).get(userId) ?? NO_LABEL;
    const { subject: providerSubject, sid: providerSid } = provider;
    return this.parts.tokens.issueProvided({ sessionId, generation, userId, providerSubject, providerSid, label, expiresAt });
  }

  private expiry(): Date {
    return new Date(this.parts.clock.now().getTime() + this.parts.settings.sessionLifetimeMs);
  }

  private unavailable(error: unknown): never {
    if (!(error instanceof ProviderUnavailable)) throw error;
    this.parts.warn(error.message);
    throw new Rejection('oidc-idp-unavailable', 'The provider does not answer. Please try again.');
  }
}

/** The reason for the log. The messages of other errors may quote what was sent, so only their names are logged. */
function reasonOf(error: unknown): string {
  if (error instanceof ProviderRefused || error instanceof ProviderUnavailable) return error.message;
  return error instanceof Error ? error.name : 'unknown';
}

const causeOf = (actor: string, requestId: string): Cause => ({
  actor,
  credential: 'identity-provider',
  correlationId: requestId,
  causationId: requestId,
});
