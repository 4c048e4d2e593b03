import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { AuthType } from '../../resources/identity/caller.js';
import { Access } from '../../platform/http/access.js';

/** The settings to which clients adapt. */
export class StartUpOptions {
  constructor(
    readonly authType: AuthType,
    readonly hybridRetrieval: boolean,
    /** The paths for signing in and out and the name of the provider, with AUTH_TYPE oidc. */
    readonly oidc: Readonly<{ login_path: string; logout_path: string; provider_name: string | null }> | undefined,
  ) {}
}

/** Routes that a client calls before its user has signed in. */
@Controller()
export class StartUpController {
  constructor(private readonly options: StartUpOptions) {}

  /** This service has no web page, so the home page redirects to the interactive API reference. */
  @ApiOperation({ summary: 'Redirects to this reference' })
  @Access({ for: 'anyone', action: 'describe', of: 'service', scopes: 'any-token' })
  @Get()
  @Redirect('/api/docs', 302)
  home() {}

  @ApiOperation({ summary: 'How users sign in, and which kinds of search are available' })
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
