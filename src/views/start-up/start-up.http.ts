import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { AuthType } from '../../resources/identity/caller.js';
import { Access } from '../../platform/http/access.js';

/** What clients adapt themselves to. */
export class StartUpOptions {
  constructor(
    readonly authType: AuthType,
    readonly hybridRetrieval: boolean,
    /** Where browsers sign in and out, and at whom, with AUTH_TYPE oidc. */
    readonly oidc: Readonly<{ login_path: string; logout_path: string; provider_name: string | null }> | undefined,
  ) {}
}

/** What a client asks before it knows who its user is. */
@Controller()
export class StartUpController {
  constructor(private readonly options: StartUpOptions) {}

  /** There is no web page of ours: the interactive reference is the nearest thing. */
  @ApiOperation({ summary: 'Leads to this reference' })
  @Access({ for: 'anyone', action: 'describe', of: 'service', scopes: 'any-token' })
  @Get()
  @Redirect('/api/docs', 302)
  home() {}

  @ApiOperation({ summary: 'How users sign in, and what can be searched' })
  @Access({ for: 'anyone', action: 'describe', of: 'service', scopes: 'any-token' })
  @Get('api/config')
  config() {
    const { authType, hybridRetrieval, oidc } = this.options;
    return {
      auth_type: authType === 'none' ? null : authType,
      requires_auth: authType !== 'none',
      graphrag_available: false,
      hybrid_available: hybridRetrieval,
      ...(oidc && { oidc }),
    };
  }
}
