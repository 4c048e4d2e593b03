import { Controller, Get } from '@nestjs/common';
import { newId } from '../kernel/ids.js';
import { Rejection } from '../kernel/rejection.js';
import { Authenticator } from './authenticator.js';
import type { SignedInUser } from './caller.js';
import { CurrentUser } from './identity.http.js';
import { SessionTokens } from './session-tokens.js';

/** How a client gets a session, and learns whose it is. */
@Controller('api')
export class SessionController {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly tokens: SessionTokens,
  ) {}

  /** A session for somebody new: whoever asks gets a user of their own. */
  @Get('generate_token')
  async generateToken() {
    if (this.authenticator.authType !== 'session_jwt') {
      throw new Rejection('token-generation-not-allowed', 'Token generation not allowed in current auth mode');
    }
    return { token: await this.tokens.issue({ userId: newId(), roles: [] }) };
  }

  @Get('user/me')
  me(@CurrentUser() user: SignedInUser) {
    return { success: true, user_id: user.userId, roles: user.roles };
  }
}
