import { Controller, Delete, Get, Param, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Rejection } from '../../../kernel/rejection.js';
import type { SignedInUser } from '../caller.js';
import { SessionUser } from '../session-only.js';
import { OpenResponses } from '../sessions/open-responses.js';
import { SessionEndings } from '../sessions/session-endings.js';
import { type ListedSession, Sessions } from '../sessions/sessions.port.js';

/** Where a user is signed in. Tokens that no provider vouched for begin no session that could be listed. */
@ApiTags('Sessions')
@Controller('api/user/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly endings: SessionEndings,
    private readonly responses: OpenResponses,
  ) {}

  @ApiOperation({
    summary: 'The sessions of the signed-in user, the newest first',
    description: 'Of AUTH_TYPE oidc; otherwise the list is empty: a session token is then good as long as it says.',
  })
  @Get()
  async list(@SessionUser() { userId, sessionId: current }: SignedInUser) {
    const sessions = await this.sessions.listOf(userId);
    return { success: true, sessions: sessions.map((session) => sessionRecord(session, current)) };
  }

  @ApiOperation({
    summary: 'Ends a session',
    description: 'Its token is refused everywhere within two seconds, and its open streams are closed.',
  })
  @Delete(':id')
  async end(
    @SessionUser() { userId, cause }: SignedInUser,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    // Whose own session it is gets an answer.
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
