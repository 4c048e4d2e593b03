import { Controller, Delete, Get, Param, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import type { SignedInUser } from '../caller.js';
import { CurrentUser } from '../identity.http.js';
import { OpenResponses } from '../open-responses.js';
import { SessionEndings } from './session-endings.js';
import { type ListedSession, Sessions } from '../sessions/sessions.port.js';
import { inPath } from '../../../kernel/access.js';

/**
 * Lists and ends the sessions of users who signed in at a provider. Other session tokens have no session that could be listed.
 */
@ApiTags('Sessions')
@Controller('api/user/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly endings: SessionEndings,
    private readonly responses: OpenResponses,
  ) {}

  @ApiOperation({
    summary: 'Lists the sessions of the signed-in user, newest first',
    description: 'For AUTH_TYPE oidc. Otherwise the list is empty, and a session token is valid until it expires.',
  })
  @Access({ for: 'user', action: 'list', of: 'sessions' })
  @Get()
  async list(@CurrentUser() { userId, sessionId: current }: SignedInUser) {
    const sessions = await this.sessions.listOf(userId);
    return { success: true, sessions: sessions.map((session) => sessionRecord(session, current)) };
  }

  @ApiOperation({
    summary: 'Ends a session',
    description: 'Its token is refused everywhere within two seconds, and its open streams and answers end.',
  })
  @Access({ for: 'user', action: 'delete', of: 'sessions', at: inPath('id') })
  @Delete(':id')
  async end(
    @CurrentUser() { userId, cause }: SignedInUser,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    // Without this, a user who ends the current session would not receive the response.
    this.responses.spare(reply.raw);
    if (!(await this.endings.end(userId, id, 'signed-out', cause))) throw new Rejection('session-not-found', 'Session not found');
    return { success: true };
  }
}

const sessionRecord = ({ sessionId, client, startedAt, renewedAt, expiresAt }: ListedSession, current: string | undefined) => ({
  id: sessionId,
  client,
  started_at: startedAt,
  renewed_at: renewedAt,
  expires_at: expiresAt,
  current: sessionId === current,
});
