import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { SignedInUser } from '../identity/caller.js';
import { SessionUser } from '../identity/session-only.js';
import { Clock } from '../kernel/clock.js';
import { PlannedActivity } from './planned-activity.js';
import { windowIn, type WindowAsked } from './planned-window.policy.js';

/** What a user has had done, has under way and has planned. For sessions only. */
@ApiTags('Activity')
@Controller('api/activity')
export class ActivityController {
  constructor(
    private readonly planned: PlannedActivity,
    private readonly clock: Clock,
  ) {}

  @Get('planned')
  @ApiOperation({ summary: 'What is planned and what became of it, in a window of at most 62 days.' })
  @ApiQuery({ name: 'from', required: false, description: 'ISO 8601; without an offset on the clocks of tz. Default: today' })
  @ApiQuery({ name: 'to', required: false, description: 'ISO 8601. Default: a week after from' })
  @ApiQuery({ name: 'tz', required: false, description: 'An IANA zone. Default: UTC' })
  async calendar(@SessionUser() { userId }: SignedInUser, @Query() query: WindowAsked) {
    const now = this.clock.now();
    return this.planned.of(userId, windowIn(query, now), now);
  }
}
