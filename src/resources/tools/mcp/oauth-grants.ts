import type { Clock } from '../../../kernel/clock.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { Ids } from '../../../kernel/ids.js';
import type { KeyValue } from '../../../kernel/messaging/key-value.js';
import { holdLease } from '../../../kernel/messaging/lease.js';
import type { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Timing } from '../../../kernel/timing.js';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  type CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import type { AuthorizationServers, GrantTokens } from './authorization-server.js';
import { SignInNeeded } from './mcp-failures.js';
import type { TokenSource } from './mcp-session.js';
import { MarkGrantLost, RefreshTokens } from './sign-in/oauth.commands.js';
import { type OAuthGrant, oauthGrant } from './sign-in/oauth.decider.js';
import { oauthStream } from './sign-in/oauth.events.js';

/** Tokens that expire within this time are renewed before they are used. */
const TOKEN_MARGIN_MS = 30_000;

/** The lease of the process that renews tokens, and the interval at which other processes check for the result. */
const REFRESH_LEASE_MS = 30_000;
const REFRESH_POLL_MS = 100;

/** The key of the tokens in their vault entry. */
export const TOKENS = 'tokens';

type Current = Readonly<{ credentialsId: string; tokens: GrantTokens }>;

/**
 * The tokens of grants. The stream of a grant says which tokens are current. Tools name the grant and not the tokens, so that a
 * pinned tool uses the current tokens. Only one process at a time renews tokens, because a refresh token may work only once.
 * Steps: request new tokens, store them, append `OAuthTokensRefreshed`, delete the old tokens. A crash after the first step loses
 * the grant if refresh tokens work only once, and the owner has to sign in again. A crash after the second step leaves a vault
 * entry without a reference. After the third step the reaction `purge-sign-in-secrets` deletes the old tokens.
 */
export class OAuthGrants {
  private readonly renewing = new Map<string, Promise<Current>>();

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly vault: CredentialVault,
    private readonly servers: AuthorizationServers,
    private readonly keyValue: KeyValue,
    private readonly clock: Clock,
    private readonly timing: Timing,
    private readonly ids: Ids,
  ) {}

  async grant(grantId: string): Promise<OAuthGrant> {
    return (await this.streams.fold(oauthStream(grantId), oauthGrant)).state;
  }

  tokensOf(ownerId: string, grantId: string): TokenSource {
    return {
      token: async (cause) => {
        const current = await this.current(ownerId, grantId);
        const { accessToken, refreshToken, expiresAt } = current.tokens;
        const isFresh = expiresAt === null || Date.parse(expiresAt) - this.clock.now().getTime() > TOKEN_MARGIN_MS;
        if (isFresh || refreshToken === null) return accessToken;
        return (await this.renewed(ownerId, grantId, current, cause)).tokens.accessToken;
      },
      renewed: async (refused, cause) => {
        const current = await this.current(ownerId, grantId);
        if (current.tokens.accessToken !== refused) return current.tokens.accessToken;
        return (await this.renewed(ownerId, grantId, current, cause)).tokens.accessToken;
      },
    };
  }

  /** @throws SignInNeeded */
  private async current(ownerId: string, grantId: string, missing?: string): Promise<Current> {
    const grant = await this.grant(grantId);
    if (grant.status !== 'granted' || grant.ownerId !== ownerId || grant.credentialsId === missing) {
      throw new SignInNeeded('There is no such grant.');
    }
    const { credentialsId } = grant;
    try {
      const secrets = await this.vault.reveal(ownerId, credentialsId);
      return { credentialsId, tokens: JSON.parse(secrets[TOKENS]!) as GrantTokens };
    } catch (error) {
      // Missing tokens were usually replaced between the two reads, so the grant is read again. If it still names them, they are
      // lost.
      if (error instanceof CredentialsUnreadable) throw new SignInNeeded('The tokens cannot be read any more.', { cause: error });
      if (error instanceof CredentialsMissing) return this.current(ownerId, grantId, credentialsId);
      throw error;
    }
  }

  /** Concurrent callers in this process share one renewal. */
  private renewed(ownerId: string, grantId: string, before: Current, cause: Cause): Promise<Current> {
    const key = `${grantId} ${before.credentialsId}`;
    const known = this.renewing.get(key);
    if (known) return known;
    const renewing = this.renewAlone(ownerId, grantId, before, cause).finally(() => this.renewing.delete(key));
    this.renewing.set(key, renewing);
    return renewing;
  }

  private async renewAlone(ownerId: string, grantId: string, before: Current, cause: Cause): Promise<Current> {
    const { timing, ids } = this;
    const options = { ttlMs: REFRESH_LEASE_MS, holder: grantId, timing, ids };
    for (let waitedMs = 0; waitedMs <= 2 * REFRESH_LEASE_MS; waitedMs += REFRESH_POLL_MS) {
      const lease = await holdLease(this.keyValue, `mcp-oauth.${grantId}`, options);
      try {
        const current = await this.current(ownerId, grantId);
        if (current.credentialsId !== before.credentialsId) return current;
        if (lease) return await this.renew(ownerId, grantId, before, cause);
      } finally {
        await lease?.release();
      }
      await timing.pause(REFRESH_POLL_MS);
    }
    throw new SignInNeeded('The tokens are being renewed without an end.');
  }

  private async renew(ownerId: string, grantId: string, before: Current, cause: Cause): Promise<Current> {
    try {
      const tokens = await this.servers.refreshed(before.tokens);
      const credentialsId = await this.vault.keep(ownerId, { [TOKENS]: JSON.stringify(tokens) });
      await this.commands.execute(new RefreshTokens(grantId, before.credentialsId, credentialsId, cause));
      await this.vault.delete(ownerId, before.credentialsId);
      return { credentialsId, tokens };
    } catch (error) {
      if (error instanceof SignInNeeded) {
        await this.commands.execute(new MarkGrantLost(grantId, before.credentialsId, error.message, cause));
        await this.vault.delete(ownerId, before.credentialsId);
      }
      throw error;
    }
  }
}
