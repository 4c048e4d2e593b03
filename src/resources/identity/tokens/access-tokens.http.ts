import { Body, Controller, Delete, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { type AccessTokenRecord, AccessTokenQueries } from '../../../../projections/access-tokens/access-tokens.queries.js';
import { FAMILIES, SCOPES } from '../../../kernel/access.js';
import { Clock } from '../../../kernel/clock.js';
import { Commands } from '../../../kernel/commands.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type CredentialUse, CredentialUses } from '../../../platform/credentials/credential-uses.port.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody } from '../../../platform/http/documented.js';
import type { SignedInUser } from '../caller.js';
import { CurrentUser } from '../identity.http.js';
import {
  AccessTokenRules,
  CreateAccessToken,
  type IssuedToken,
  RegenerateAccessToken,
  RevokeAccessToken,
} from './access-token.commands.js';
import { nameIn, resourcesIn, scopesIn } from './access-token.policy.js';
import { ISSUED, LISTING, NEW_TOKEN, REGENERATION } from './access-tokens.dto.js';
import { accessTokenNotFound } from './access-tokens.decider.js';
import type { FastifyReply } from 'fastify';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';

class TokenBody {
  @Allow() name?: unknown;
  @Allow() scopes?: unknown;
  @Allow() resource_filter?: unknown;
  @Allow() expires_in_days?: unknown;
}

class RegenerationBody {
  @Allow() expires_in_days?: unknown;
}

const EXAMPLE = { name: 'Nightly import', scopes: ['sources:write', 'chat:run'], expires_in_days: 30 };

/** Manages personal access tokens. Needs a session and accepts no token, so that a leaked token cannot create another one. */
@ApiTags('Personal access tokens')
@Controller('api/user/tokens')
export class AccessTokensController {
  constructor(
    private readonly commands: Commands,
    private readonly tokens: AccessTokenQueries,
    private readonly uses: CredentialUses,
    private readonly clock: Clock,
    private readonly options: AccessTokenRules,
  ) {}

  @Access({ for: 'user', action: 'list', of: 'access tokens' })
  @Get()
  @ApiOperation({ summary: 'Lists your tokens, the available scopes, and the rules for tokens on this server' })
  @ApiOkResponse({ description: 'Tokens that are not revoked, oldest first.', schema: LISTING })
  async list(@CurrentUser() { userId }: SignedInUser) {
    const own = await this.tokens.ownedBy(userId);
    const uses = await this.uses.of(own.map(({ id }) => id));
    const { rules } = this.options;
    return {
      success: true,
      tokens: own.map((token) => this.record(token, uses.get(token.id))),
      scopes: Object.entries(SCOPES).map(([name, description]) => ({ name, description })),
      policy: {
        enabled: rules.enabled,
        default_lifetime_days: rules.defaultLifetimeDays,
        max_lifetime_days: rules.maxLifetimeDays,
        allow_non_expiring: rules.allowNonExpiring,
        max_per_user: rules.maxPerUser,
        filterable_families: FAMILIES,
      },
    };
  }

  @Access({ for: 'user', action: 'create', of: 'access tokens' })
  @Post()
  @HttpCode(201)
  @ApiOperation({
    summary: 'Creates a token. Only this response contains it.',
    description:
      'A program sends it as `Authorization: Bearer dgpt_pat_…`, with every `AUTH_TYPE`. It may do what its scopes allow. A write scope includes reading. ' +
      '`resource_filter` restricts it to ids of a family. Such a token cannot create resources in that family.',
  })
  @DocumentedBody({ schema: NEW_TOKEN }, EXAMPLE)
  @ApiResponse({ status: 201, description: 'The token, and its record.', schema: ISSUED })
  @ApiResponse({
    status: 409,
    description: 'Another token has this name (`name_taken`), or there are too many tokens (`too_many_tokens`).',
  })
  async create(
    @CurrentUser() user: SignedInUser,
    @Body() body: TokenBody,
    @Confirms('access-tokens') confirm: Confirm,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.requireEnabled();
    const { name, scopes, resource_filter: filter, expires_in_days: expiresInDays } = body;
    const granted = scopesIn(scopes);
    const wish = { name: nameIn(name), scopes: granted, resources: resourcesIn(filter, granted), expiresInDays };
    return this.issued(user, confirm, reply, await this.commands.execute(new CreateAccessToken(user.userId, wish, user.cause)));
  }

  @Access({ for: 'user', action: 'change', of: 'access tokens' })
  @Post(':id/regenerate')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Gives a token a new secret. The previous one is refused from then on, and its open streams and answers end.',
  })
  @DocumentedBody({ schema: REGENERATION, required: false }, { expires_in_days: 30 })
  @ApiOkResponse({ description: 'The token, which only this response contains, and its record.', schema: ISSUED })
  async regenerate(
    @CurrentUser() user: SignedInUser,
    @Param('id') id: string,
    @Body() body: RegenerationBody | undefined,
    @Confirms('access-tokens') confirm: Confirm,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.requireEnabled();
    const command = new RegenerateAccessToken(checked(id), user.userId, body?.expires_in_days, user.cause);
    return this.issued(user, confirm, reply, await this.commands.execute(command));
  }

  @Access({ for: 'user', action: 'delete', of: 'access tokens' })
  @Delete(':id')
  @HttpCode(200)
  @ApiOperation({ summary: 'Revokes a token. It is refused from then on, and its open streams and answers end.' })
  async revoke(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Confirms('access-tokens') confirm: Confirm) {
    await confirm(await this.commands.execute(new RevokeAccessToken(checked(id), user.userId, user.cause)));
    await this.uses.forget(id);
    return { success: true };
  }

  private async issued(
    { userId }: SignedInUser,
    confirm: Confirm,
    reply: FastifyReply,
    { tokenId, token, position }: IssuedToken,
  ) {
    await confirm(position);
    void reply.header('Cache-Control', 'no-store');
    const own = (await this.tokens.ownedBy(userId)).find(({ id }) => id === tokenId);
    const use = (await this.uses.of([tokenId])).get(tokenId);
    return { success: true, token, personal_access_token: own ? this.record(own, use) : { id: tokenId } };
  }

  private record(token: AccessTokenRecord, use: CredentialUse | undefined) {
    const isOver = token.expiresAt !== null && token.expiresAt <= this.clock.now();
    return {
      id: token.id,
      name: token.name,
      token_prefix: token.prefix,
      scopes: token.scopes,
      resource_filter: token.resources,
      status: isOver ? 'expired' : 'active',
      expires_at: token.expiresAt?.toISOString() ?? null,
      last_used_at: use?.usedAt.toISOString() ?? null,
      last_used_ip: use?.address ?? null,
      created_at: token.createdAt.toISOString(),
      revoked_at: null,
    };
  }

  private requireEnabled(): void {
    if (this.options.rules.enabled) return;
    throw new Rejection('access-tokens-not-available', 'Personal access tokens are not available on this server');
  }
}

function checked(id: string): string {
  if (!isId(id)) throw accessTokenNotFound();
  return id;
}
