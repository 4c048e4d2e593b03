import { Controller, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Commands } from '../../kernel/commands.js';
import { MonitorQueries, type MonitorRecord, type MonitorSelection } from '../../../projections/monitors/monitors.queries.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { reached } from '../../resources/identity/access.policy.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { monitorNotFound } from './monitor/monitor.decider.js';
import { monitorView } from './monitor/monitor-view.js';
import { isSteering, SteerMonitor } from './monitor/monitor.commands.js';
import { OptionalQuery } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import type { FastifyReply } from 'fastify';
import { type Confirm, Confirms } from '../../resources/confirmed-writes.http.js';

const MONITORS_SHOWN_MAX = 200;

/**
 * The monitors of a user. Personal access tokens cannot call these routes: only a signed-in user controls what continues the
 * user's chats.
 */
@ApiTags('Monitors')
@Controller('api/monitors')
export class MonitorsController {
  constructor(
    private readonly commands: Commands,
    private readonly monitors: MonitorQueries,
  ) {}

  @OptionalQuery('conversation_id', 'status')
  @Access({ for: 'user', action: 'list', of: 'monitors' })
  @Get()
  @ApiOperation({
    summary: 'Your active monitors, newest first; `status=live` adds paused ones, `status=all` adds ended ones too.',
  })
  async list(
    @CurrentUser() { userId }: SignedInUser,
    @Query('conversation_id') conversationId?: string,
    @Query('status') status?: string,
  ) {
    const isGiven = conversationId !== undefined && conversationId !== '';
    if (isGiven && !isId(conversationId)) {
      throw new Rejection('invalid-request', 'conversation_id must be a conversation id');
    }
    const selection = { selection: selectionOf(status), limit: MONITORS_SHOWN_MAX, ...(isGiven && { conversationId }) };
    return { monitors: (await this.monitors.ofOwner(userId, selection)).map(monitorView) };
  }

  @Access({ for: 'user', action: 'read', of: 'monitors' })
  @Get(':id')
  @ApiOperation({ summary: 'One monitor.' })
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    return { monitor: monitorView(await this.own(id, user)) };
  }

  @Access({ for: 'user', action: 'read', of: 'monitors' })
  @Get(':id/secret')
  @ApiOperation({ summary: 'The secret of a monitor’s link. This service creates no such links, so there is never a secret.' })
  async secret(
    @CurrentUser() user: SignedInUser,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<never> {
    reply.header('cache-control', 'no-store');
    await this.own(id, user);
    throw new Rejection('monitor-not-found', 'No signing secret for this monitor');
  }

  @Access({ for: 'user', action: 'change', of: 'monitors' })
  @Put(':id/secret')
  @ApiOperation({
    summary: 'Changes the secret of a monitor’s link. This service creates no such links, so there is never a secret.',
  })
  async changeSecret(@CurrentUser() user: SignedInUser, @Param('id') id: string): Promise<never> {
    await this.own(id, user);
    throw new Rejection('monitor-not-found', 'No signed link for this monitor');
  }

  @Access({ for: 'user', action: 'change', of: 'monitors' })
  @Post(':id/:action')
  @HttpCode(200)
  @ApiOperation({ summary: 'Pauses, resumes or cancels a monitor.' })
  async steer(
    @CurrentUser() user: SignedInUser,
    @Param('id') id: string,
    @Param('action') action: string,
    @Confirms('monitors') confirm: Confirm,
  ) {
    if (!isSteering(action)) throw new Rejection('not-found', 'action must be pause, resume or cancel');
    await this.own(id, user);
    const position = await this.commands.execute(new SteerMonitor(id, user.userId, action, user.cause));
    await confirm(position);
    return this.one(user, id);
  }

  private async own(id: string, user: SignedInUser): Promise<MonitorRecord> {
    return reached(user, isId(id) ? await this.monitors.byId(id) : undefined, monitorNotFound);
  }
}

function selectionOf(status: string | undefined): MonitorSelection {
  if (status === undefined || status === '' || status === 'active') return 'active';
  if (status === 'live' || status === 'all') return status;
  throw new Rejection('invalid-request', 'status must be active, live or all');
}
