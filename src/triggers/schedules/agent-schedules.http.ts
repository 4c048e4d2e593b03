import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Commands } from '../../kernel/commands.js';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { Reaching } from '../../resources/identity/reaching.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { Clock } from '../../kernel/clock.js';
import { isId, newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { AdmitSchedule } from './allowance/allowance.commands.js';
import { CreateSchedule } from './schedule/schedule.commands.js';
import { DefinitionGuard } from './schedule/definition-guard.js';
import { ModelLookup } from './model-lookup.js';
import { clampedNumber } from './schedule/numbers.policy.js';
import { scheduleNotFound } from './schedule/schedule.policy.js';
import { runRecord, scheduleRecord } from './schedule-record.http.js';
import { ScheduleBody } from './schedules.dto.js';
import { DocumentedBody, OptionalQuery } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { FAMILIES_OF_AGENTS_PARTS, inPath } from '../../kernel/access.js';
import { type Confirm, Confirms } from '../../resources/confirmed-writes.http.js';

const STATISTICS_DAYS_MAX = 365;
const STATISTICS_DAYS = 30;
const DAY_MS = 86_400_000;

const DAILY = {
  name: 'Weather',
  instruction: 'Report the weather.',
  trigger_type: 'recurring',
  cron: '0 8 * * *',
  timezone: 'UTC',
};

const BY_GRANT = { granted: 'manage_schedules', grantedOn: 'agents' } as const;

/** The schedules of one agent, for its owner and for team members who may manage them. */
@ApiTags('Schedules')
@Controller('api/agents/:agentId/schedules')
export class AgentSchedulesController {
  constructor(
    private readonly commands: Commands,
    private readonly agents: AgentQueries,
    private readonly schedules: ScheduleQueries,
    private readonly clock: Clock,
    private readonly models: ModelLookup,
    private readonly definitions: DefinitionGuard,
    private readonly reaching: Reaching,
  ) {}

  @Access({
    for: 'user',
    action: 'list',
    of: 'schedules',
    scopes: ['schedules:read'],
    refs: [{ family: 'agents', ...inPath('agentId') }],
    closedToRestricted: FAMILIES_OF_AGENTS_PARTS,
    ...BY_GRANT,
  })
  @Get()
  @ApiOperation({ summary: 'The schedules of an agent, newest first.' })
  async list(@CurrentUser() user: SignedInUser, @Param('agentId') agentId: string) {
    await this.requireManaged(agentId, user);
    return { schedules: (await this.schedules.ofAgent(agentId)).map(scheduleRecord) };
  }

  @DocumentedBody({ type: ScheduleBody }, DAILY)
  @Access({
    for: 'user',
    action: 'create',
    of: 'schedules',
    scopes: ['schedules:write'],
    refs: [{ family: 'agents', ...inPath('agentId') }],
    closedToRestricted: FAMILIES_OF_AGENTS_PARTS,
    ...BY_GRANT,
  })
  @Post()
  @HttpCode(201)
  @ApiOperation({ summary: 'Creates a schedule: the agent runs once at a given time, or repeatedly.' })
  async create(
    @CurrentUser() user: SignedInUser,
    @Param('agentId') agentId: string,
    @Body() body: ScheduleBody,
    @Confirms('schedules') confirm: Confirm,
  ) {
    await this.requireManaged(agentId, user);
    await this.models.require(body.model_id, user.userId);
    const { userId, cause } = user;
    const checked = await this.definitions.checked(agentId, body);
    const scheduleId = newId();
    await this.commands.execute(new AdmitSchedule(userId, scheduleId, cause));
    const origin = { agentId, conversationId: null, createdVia: 'ui' } as const;
    let position: bigint | undefined;
    try {
      position = await this.commands.execute(new CreateSchedule(scheduleId, userId, origin, checked, cause));
    } catch (error) {
      if (error instanceof Rejection) await this.commands.execute(new AdmitSchedule(userId, scheduleId, cause, 'no-place'));
      throw error;
    }
    await confirm(position);
    const created = await this.schedules.byId(scheduleId);
    if (!created) throw scheduleNotFound();
    return { schedule: scheduleRecord(created) };
  }

  @OptionalQuery('days')
  @Access({
    for: 'user',
    action: 'read',
    of: 'schedules',
    scopes: ['schedules:read'],
    refs: [{ family: 'agents', ...inPath('agentId') }],
    closedToRestricted: FAMILIES_OF_AGENTS_PARTS,
    ...BY_GRANT,
  })
  @Get('stats')
  @ApiOperation({ summary: "Statistics of the recent runs of an agent's schedules." })
  async statistics(@CurrentUser() user: SignedInUser, @Param('agentId') agentId: string, @Query('days') asked?: string) {
    await this.requireManaged(agentId, user);
    const days = clampedNumber(asked, { fallback: STATISTICS_DAYS, min: 1, max: STATISTICS_DAYS_MAX });
    const since = new Date(this.clock.now().getTime() - days * DAY_MS);
    const { runs, failed, tokens, latestFailure } = await this.schedules.statistics(agentId, since);
    const failure = latestFailure ? runRecord(latestFailure, { ownerId: latestFailure.ownerId, agentId }) : null;
    return { days, runs, failed, tokens, latest_failure: failure };
  }

  private async requireManaged(agentId: string, user: SignedInUser): Promise<void> {
    const agent = isId(agentId) ? await this.agents.byId(agentId) : undefined;
    await this.reaching.reached(user, agent, 'agents', 'manage_schedules', agentNotFound);
  }
}

const agentNotFound = () => new Rejection('agent-not-found', 'agent not found');
