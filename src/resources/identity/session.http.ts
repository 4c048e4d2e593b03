import { Controller, Get, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Authenticator } from './authenticator.js';
import type { SignedInUser, TokenGrant } from './caller.js';
import { GeneratedTokens } from './credential-limits.js';
import { CurrentUser } from './identity.http.js';
import { SessionTokens } from './session-tokens.js';
import { Access } from '../../platform/http/access.js';
import { NO_LABEL, UserAccounts } from './accounts/user-accounts.port.js';

/** Issues session tokens and returns the signed-in user. */
@ApiTags('Sessions')
@Controller('api')
export class SessionController {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly tokens: SessionTokens,
    private readonly accounts: UserAccounts,
    private readonly generated: GeneratedTokens,
  ) {}

  /** Issues a session token for a new user. */
  @Access({ for: 'anyone', action: 'create', of: 'sessions' })
  @Get('generate_token')
  @ApiOperation({
    summary: 'Issues a session token for a new user, if AUTH_TYPE is session_jwt',
    description:
      'At most GENERATED_TOKENS_MAX_PER_HOUR tokens per address and hour (100 unless set), then 429 (`too_many_requests`).',
  })
  async generateToken(@Req() request: FastifyRequest) {
    if (this.authenticator.authType !== 'session_jwt') {
      throw new Rejection('token-generation-not-allowed', 'Token generation not allowed in current auth mode');
    }
    await this.generated.count(request);
    return { token: await this.tokens.issue({ subject: newId(), roles: [] }) };
  }

  @Access({ for: 'user', action: 'describe', of: 'users', scopes: 'any-token' })
  @Get('user/me')
  @ApiOperation({
    summary: 'Returns the signed-in user',
    description:
      '`user_id` is an opaque id, the same in every answer and event. `email`, `name` and `picture` are included if the issuer reports them.',
  })
  async me(@CurrentUser() { userId, roles, token }: SignedInUser) {
    const { email, name, picture } = (await this.accounts.labelsOf([userId])).get(userId) ?? NO_LABEL;
    const label = { ...(email && { email }), ...(name && { name }), ...(picture && { picture }) };
    return { success: true, user_id: userId, roles, ...label, ...(token && throughToken(token)) };
  }
}

const throughToken = ({ id, name, scopes, resources }: TokenGrant) => ({
  auth_method: 'pat',
  token: { id, name, scopes, resource_filter: resources },
});
