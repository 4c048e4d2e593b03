import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Commands } from '../../kernel/commands.js';
import { ScheduleQueries, type ScheduleRecord } from '../../../projections/schedules/schedules.queries.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { reached } from '../../resources/identity/access.policy.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { isId, newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { ChangeSchedule, DeleteSchedule, PauseSchedule, ResumeSchedule, RunScheduleNow } from './schedule/schedule.commands.js';
import { DefinitionGuard } from './schedule/definition-guard.js';
import { ModelLookup } from './model-lookup.js';
import { clampedNumber } from './schedule/numbers.policy.js';
import { scheduleNotFound } from './schedule/schedule.policy.js';
import { runRecord, scheduleRecord } from './schedule-record.http.js';
import { ScheduleAction, ScheduleBody } from './schedules.dto.js';
import { DocumentedBody, OptionalQuery } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { FAMILIES } from '../../kernel/access.js';
import { type Confirm, Confirms } from '../../resources/confirmed-writes.http.js';

const RUNS_PER_PAGE_MAX = 200;
const RUNS_PER_PAGE = 50;

const runNotFound = () => new Rejection('schedule-run-not-found', 'run not found');

/** Single schedules and their runs, for the owner. */
@ApiTags('Schedules')
@Controller('api/schedules/:id')
export class SchedulesController {
  constructor(
    private readonly commands: Commands,
    private readonly schedules: ScheduleQueries,
    private readonly models: ModelLookup,
    private readonly definitions: DefinitionGuard,
  ) {}

  @Access({ for: 'user', action: 'read', of: 'schedules', scopes: ['schedules:read'], closedToRestricted: FAMILIES })
  @Get()
  @ApiOperation({ summary: 'One schedule.' })
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    return { schedule: scheduleRecord(await this.own(id, user)) };
  }

  @DocumentedBody({ type: ScheduleBody }, { instruction: 'Report the weather.' })
  @Access({ for: 'user', action: 'change', of: 'schedules', scopes: ['schedules:write'], closedToRestricted: FAMILIES })
  @Put()
  @ApiOperation({ summary: 'Changes what a schedule does, or when; omitted fields stay as they are.' })
  async change(
    @CurrentUser() user: SignedInUser,
    @Param('id') id: string,
    @Body() body: ScheduleBody,
    @Confirms('schedules') confirm: Confirm,
  ) {
    const { modelId, agentId } = await this.own(id, user);
    await this.models.require(body.model_id, user.userId, modelId);
    const checked = await this.definitions.checked(agentId, body);
    return this.written(id, user, confirm, await this.commands.execute(new ChangeSchedule(id, user.userId, checked, user.cause)));
  }

  @DocumentedBody({ type: ScheduleAction }, { action: 'pause' })
  @Access({ for: 'user', action: 'change', of: 'schedules', scopes: ['schedules:write'], closedToRestricted: FAMILIES })
  @Patch()
  @ApiOperation({ summary: 'Pauses or resumes a schedule.' })
  async pauseOrResume(
    @CurrentUser() user: SignedInUser,
    @Param('id') id: string,
    @Body() { action, run_at: runAt }: ScheduleAction,
    @Confirms('schedules') confirm: Confirm,
  ) {
    await this.own(id, user);
    if (action !== 'pause' && action !== 'resume') throw new Rejection('invalid-schedule', "action must be 'pause' or 'resume'");
    const { userId, cause } = user;
    const command = action === 'pause' ? new PauseSchedule(id, userId, cause) : new ResumeSchedule(id, userId, runAt, cause);
    return this.written(id, user, confirm, await this.commands.execute(command));
  }

  @Access({ for: 'user', action: 'delete', of: 'schedules', scopes: ['schedules:write'], closedToRestricted: FAMILIES })
  @Delete()
  @ApiOperation({ summary: 'Deletes a schedule and the list of its runs.' })
  async delete(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Confirms('schedules') confirm: Confirm) {
    await this.own(id, user);
    await confirm(await this.commands.execute(new DeleteSchedule(id, user.userId, user.cause)));
    return { success: true };
  }

  @Access({ for: 'user', action: 'ask', of: 'schedules', scopes: ['schedules:write'], closedToRestricted: FAMILIES })
  @Post('run')
  @HttpCode(202)
  @ApiOperation({ summary: 'Runs a schedule now, in addition to its slots.' })
  async runNow(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Confirms('schedules') confirm: Confirm) {
    const schedule = await this.own(id, user);
    const runId = newId();
    await confirm(await this.commands.execute(new RunScheduleNow(id, user.userId, runId, user.cause)));
    return this.runOf(schedule, runId);
  }

  @OptionalQuery('limit', 'offset')
  @Access({ for: 'user', action: 'list', of: 'schedules', scopes: ['schedules:read'], closedToRestricted: FAMILIES })
  @Get('runs')
  @ApiOperation({ summary: 'The runs of a schedule and its slots without a run, latest first.' })
  async runs(
    @CurrentUser() user: SignedInUser,
    @Param('id') id: string,
    @Query('limit') askedLimit?: string,
    @Query('offset') askedOffset?: string,
  ) {
    const schedule = await this.own(id, user);
    const limit = clampedNumber(askedLimit, { fallback: RUNS_PER_PAGE, min: 1, max: RUNS_PER_PAGE_MAX });
    const offset = clampedNumber(askedOffset, { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
    const runs = await this.schedules.runs(id, limit, offset);
    return { runs: runs.map((run) => runRecord(run, schedule)), limit, offset };
  }

  @Access({ for: 'user', action: 'read', of: 'schedules', scopes: ['schedules:read'], closedToRestricted: FAMILIES })
  @Get('runs/:runId')
  @ApiOperation({ summary: 'One run of a schedule.' })
  async run(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Param('runId') runId: string) {
    return this.runOf(await this.own(id, user), runId);
  }

  private async runOf(schedule: ScheduleRecord, runId: string) {
    const run = isId(runId) ? await this.schedules.run(schedule.id, runId) : undefined;
    if (!run || run.status === 'paused') throw runNotFound();
    return { run: runRecord(run, schedule) };
  }

  private async own(id: string, user: SignedInUser): Promise<ScheduleRecord> {
    if (!isId(id)) throw new Rejection('invalid-schedule', 'invalid schedule id');
    return reached(user, await this.schedules.byId(id), scheduleNotFound);
  }

  private async written(id: string, user: SignedInUser, confirm: Confirm, position: bigint | undefined) {
    await confirm(position);
    return this.one(user, id);
  }
}
