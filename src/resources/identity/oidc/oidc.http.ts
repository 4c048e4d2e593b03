import { createHash } from 'node:crypto';
import { type CanActivate, Controller, Get, HttpCode, Injectable, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from '../../../platform/http/access.js';
import { Rejection } from '../../../kernel/rejection.js';
import { DocumentedBody } from '../../../platform/http/documented.js';
import { bearerOf } from '../authenticator.js';
import { BegunSignIns } from '../credential-limits.js';
import { WrongCredentials } from '../client-limits.port.js';
import { IdentityProvider, ProviderRefused, ProviderUnavailable } from './identity-provider.js';
import { OIDC_PATH, OidcOptions, type OidcSettings } from './oidc-options.js';
import { SignIn } from './sign-in.js';

const STATE_COOKIE = 'oidc_state_';
/** The length of the hash of the state in the name of its cookie. */
const STATE_HASH_CHARACTERS = 16;
/** Lifetime of a `state`. */
export const LOGIN_MS_MAX = 600_000;
/** Lifetime of the code that the web client exchanges for its token. */
export const HAND_OVER_MS_MAX = 60_000;
const CLIENT_CHARACTERS_MAX = 256;

const textField = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });

/** Refuses requests if sign-in at a provider is not configured. @throws Rejection oidc-not-enabled */
@Injectable()
class OidcEnabled implements CanActivate {
  constructor(private readonly options: OidcOptions) {}

  canActivate(): boolean {
    if (!this.options.settings) throw new Rejection('oidc-not-enabled', 'Sign-in at a provider is not configured.');
    return true;
  }
}

/** Sign-in at a provider, if AUTH_TYPE is oidc. */
@ApiTags('Sign-in')
@Controller('api/auth/oidc')
@UseGuards(OidcEnabled)
export class OidcController {
  constructor(
    private readonly options: OidcOptions,
    private readonly signIn: SignIn,
    private readonly provider: IdentityProvider,
    private readonly wrongCredentials: WrongCredentials,
    private readonly begun: BegunSignIns,
  ) {}

  @ApiOperation({
    summary: 'Sends the browser to the provider',
    description:
      '302, with a cookie `oidc_state_…` of this sign-in for ten minutes. 429 (`too_many_requests`) if the address starts too many sign-ins; 503 (`idp_unavailable`) if the provider does not answer.',
  })
  @Access({ for: 'anyone', action: 'create', of: 'sessions' })
  @Get('login')
  async login(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.begun.count(request);
    const { url, state } = await this.signIn.begin(this.redirectUri(request));
    await reply
      .header('Set-Cookie', this.cookie(request, state, state, LOGIN_MS_MAX / 1000))
      .headers(NOT_KEPT)
      .redirect(url, 302);
  }

  @ApiOperation({
    summary: 'Receives the browser from the provider, and redirects it to the web client',
    description:
      '302 to `OIDC_FRONTEND_URL` with `#oidc_code=…`, or with `#oidc_error=` and `invalid_state`, `auth_failed`, `missing_claim` or `not_authorized`.',
  })
  @Access({ for: 'anyone', action: 'create', of: 'sessions' })
  @Get('callback')
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const url = new URL(this.redirectUri(request));
    url.search = new URL(request.url, url).search;
    const state = url.searchParams.get('state') ?? undefined;
    const client = request.headers['user-agent']?.slice(0, CLIENT_CHARACTERS_MAX) ?? null;
    const outcome = await this.signIn.finish({ state, cookie: cookieIn(request, state), url, client, requestId: request.id });
    const fragment = 'code' in outcome ? `oidc_code=${outcome.code}` : `oidc_error=${outcome.error}`;
    await reply
      .header('Set-Cookie', this.cookie(request, state, '', 0))
      .headers(NOT_KEPT)
      .redirect(`${this.settings.frontendUrl}/#${fragment}`, 302);
  }

  @ApiOperation({
    summary: 'Exchanges the code of a sign-in for a session token',
    description: 'Body `{"code": "…"}`. A code works once, within a minute of the sign-in; otherwise 401 (`invalid_code`).',
  })
  @DocumentedBody({ schema: textField('code') }, { code: 'Wr2x…' })
  @Access({ for: 'anyone', action: 'create', of: 'sessions' })
  @Post('token')
  @HttpCode(200)
  async token(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    void reply.headers(NOT_KEPT);
    return { token: await this.countingWrong(request, this.signIn.handOver(fieldIn(request.body, 'code'))) };
  }

  @ApiOperation({
    summary: 'Renews a session',
    description:
      'Needs the newest token of the session as bearer token. 404 (`no_refresh_token`): this token cannot renew; 401 (`refresh_failed`, ' +
      '`token_revoked`, `not_authorized`, `invalid_token`, `token_expired`): sign in again; 503 (`refresh_unavailable`): try again.',
  })
  @ApiBearerAuth()
  @Access({ for: 'anyone', action: 'change', of: 'sessions' })
  @Post('refresh')
  @HttpCode(200)
  async refresh(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    void reply.headers(NOT_KEPT);
    const bearer = bearerOf(request.headers.authorization);
    return { token: await this.countingWrong(request, this.signIn.refresh(bearer, request.id)) };
  }

  @ApiOperation({
    summary: 'Ends sessions for the provider (OpenID Connect Back-Channel Logout)',
    description:
      'Takes a form with `logout_token`. 200; 400 if the token is refused; 502 if the token could not be checked or the sessions could not be ended.',
  })
  @DocumentedBody({ schema: textField('logout_token') }, { logout_token: 'eyJhbGciOiJSUzI1NiJ9.e30.…' })
  @Access({ for: 'anyone', action: 'delete', of: 'sessions' })
  @Post('backchannel-logout')
  @HttpCode(200)
  async backchannelLogout(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply.headers(NOT_KEPT);
    const token = fieldIn(request.body, 'logout_token');
    if (typeof token !== 'string' || token === '') throw new Rejection('oidc-missing-logout-token', 'logout_token is missing.');
    try {
      await this.signIn.logout(token, request.id);
    } catch (error) {
      if (error instanceof ProviderRefused) throw new Rejection('oidc-invalid-logout-token', 'The logout token was refused.');
      throw new Rejection('oidc-revocation-unavailable', 'The sessions could not be ended. Please try again.');
    }
    await reply.code(200).send('');
  }

  @ApiOperation({
    summary: 'Sends the browser to the provider to sign out there',
    description:
      'The session here ends when the provider reports the sign-out (back-channel logout), by `DELETE /api/user/sessions/{id}`, or when it expires.',
  })
  @Access({ for: 'anyone', action: 'delete', of: 'sessions' })
  @Get('logout')
  async logout(@Res() reply: FastifyReply): Promise<void> {
    const returnTo = this.settings.frontendUrl || '/';
    const url = await this.provider.logoutUrl(returnTo).catch((error: unknown) => {
      if (error instanceof ProviderUnavailable) return undefined;
      throw error;
    });
    await reply.headers(NOT_KEPT).redirect(url ?? returnTo, 302);
  }

  /** Counts a wrong code or token as a wrong credential, because it may be a guess. */
  private async countingWrong<Result>(request: FastifyRequest, work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Rejection && GUESSED.has(error.code)) await this.wrongCredentials.count(request);
      throw error;
    }
  }

  private get settings(): OidcSettings {
    return this.options.settings!;
  }

  private redirectUri({ protocol, host }: FastifyRequest): string {
    const base = this.options.publicApiBaseUrl ?? `${protocol}://${host}`;
    return this.settings.redirectUri ?? new URL(`${OIDC_PATH}callback`, base).href;
  }

  private cookie(request: FastifyRequest, state: string | undefined, value: string, seconds: number): string {
    const secure = new URL(this.redirectUri(request)).protocol === 'https:' ? '; Secure' : '';
    return `${cookieName(state)}=${value}; Max-Age=${seconds}; Path=${OIDC_PATH}; HttpOnly; SameSite=Lax${secure}`;
  }
}

const GUESSED: ReadonlySet<string> = new Set(['oidc-invalid-code', 'invalid-token']);

const NOT_KEPT = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

/** Each sign-in has its own cookie, because several tabs of a browser may sign in at the same time. */
const cookieName = (state = ''): string =>
  STATE_COOKIE + createHash('sha256').update(state).digest('hex').slice(0, STATE_HASH_CHARACTERS);

function cookieIn({ headers }: FastifyRequest, state: string | undefined): string | undefined {
  const start = `${cookieName(state)}=`;
  return headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(start))
    ?.slice(start.length);
}

const fieldIn = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
