import { Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Commands } from '../../kernel/commands.js';
import { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import { type JobRecord, JobQueries } from '../../../projections/jobs/jobs.queries.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { reached } from '../../resources/identity/access.policy.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { Blobs } from '../../kernel/blobs.js';
import { Clock } from '../../kernel/clock.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { answerPosition } from '../../platform/http/positions.js';
import { CancelJob } from './job.commands.js';
import { followUpKey, jobNotFound } from './job.policy.js';
import { followUpIdOf } from '../follow-ups/follow-ups.events.js';
import { jobDetail, jobSummary } from './job-record.http.js';
import { keptResult, shownResult } from './job-result.js';
import { Access } from '../../platform/http/access.js';

const LISTED_JOBS_MAX = 50;

/** Lists, shows and cancels background jobs, for the owner of their conversation. */
@ApiTags('Background jobs')
@Controller('api/background_jobs')
export class JobsController {
  constructor(
    private readonly commands: Commands,
    private readonly jobs: JobQueries,
    private readonly followUps: FollowUpQueries,
    private readonly blobs: Blobs,
    private readonly clock: Clock,
    private readonly freshness: Freshness,
  ) {}

  @Access({ for: 'user', action: 'list', of: 'background jobs' })
  @Get()
  @ApiOperation({ summary: 'The background jobs of a conversation, newest first.' })
  @ApiQuery({ name: 'conversation_id', required: true })
  async list(@CurrentUser() { userId }: SignedInUser, @Query('conversation_id') conversationId: unknown) {
    if (!isId(conversationId)) throw new Rejection('invalid-request', 'conversation_id is required');
    const jobs = await this.jobs.ofConversation(userId, conversationId, LISTED_JOBS_MAX);
    const followUps = await this.followUps.statesOf(jobs.map(followUpOf));
    return { jobs: jobs.map((job) => jobSummary(job, this.clock.now(), followUps.get(followUpOf(job)))) };
  }

  @Access({ for: 'user', action: 'read', of: 'background jobs' })
  @Get(':id')
  @ApiOperation({ summary: 'One background job, with its result.' })
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    const job = reached(user, isId(id) ? await this.jobs.byId(id) : undefined, jobNotFound);
    const kept = job.result && (await keptResult(this.blobs, job.result));
    const followUp = (await this.followUps.statesOf([followUpOf(job)])).get(followUpOf(job));
    return jobDetail(job, this.clock.now(), followUp, kept && shownResult(kept.value));
  }

  @Access({ for: 'user', action: 'change', of: 'background jobs' })
  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Request the cancellation of a background job. It is cancelled once its work has ended.' })
  async cancel(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply) {
    if (!isId(id)) throw jobNotFound();
    const position = await this.commands.execute(new CancelJob(id, user.userId, 'by-owner', user.cause));
    answerPosition(reply, position);
    await this.freshness.reached(['jobs'], position);
    return this.one(user, id);
  }
}

const followUpOf = ({ conversationId, jobId }: JobRecord): string => followUpIdOf(conversationId, followUpKey(jobId));
