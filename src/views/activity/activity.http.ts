import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { Clock } from '../../kernel/clock.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { CurrentActivity } from './current-activity.js';
import {
  HISTORY_DAYS,
  HISTORY_DAYS_MAX,
  HISTORY_KINDS,
  HISTORY_LIMIT,
  HISTORY_LIMIT_MAX,
  HISTORY_OFFSET_MAX,
  HISTORY_STATUSES,
  type HistoryRequest,
  historyQuestion,
} from './history.policy.js';
import { PlannedActivity } from './planned-activity.js';
import { RunHistory } from './run-history.js';
import { windowIn, type WindowRequest } from './planned-window.policy.js';
import { Access } from '../../platform/http/access.js';

/** The read model of answers. It must include the user's own writes, because users wait for answers. */
const READ = ['conversations'];

/** The past, current and planned activity of a user. Only for signed-in sessions. */
@ApiTags('Activity')
@Controller('api/activity')
export class ActivityController {
  constructor(
    private readonly current: CurrentActivity,
    private readonly planned: PlannedActivity,
    private readonly past: RunHistory,
    private readonly clock: Clock,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
  ) {}

  @Access({ for: 'user', action: 'read', of: 'activity' })
  @Get('now')
  @ApiOperation({ summary: 'Running work, work that waits for the user, coming runs, and the counts of the last 24 hours.' })
  async now(@CurrentUser() { userId }: SignedInUser) {
    await this.freshness.reached(READ, this.lastWrites.of(userId));
    return this.current.of(userId, this.clock.now());
  }

  @Access({ for: 'user', action: 'read', of: 'activity' })
  @Get('planned')
  @ApiOperation({ summary: 'Planned and past runs in a window of at most 62 days.' })
  @ApiQuery({
    name: 'from',
    required: false,
    description: 'ISO 8601. Without an offset, a local time of tz. Default: the start of today',
  })
  @ApiQuery({ name: 'to', required: false, description: 'ISO 8601. Default: a week after from' })
  @ApiQuery({ name: 'tz', required: false, description: 'An IANA time zone. Default: UTC' })
  async calendar(@CurrentUser() { userId }: SignedInUser, @Query() query: WindowRequest) {
    const now = this.clock.now();
    return this.planned.of(userId, windowIn(query, now), now);
  }

  @Access({ for: 'user', action: 'read', of: 'activity' })
  @Get('history')
  @ApiOperation({ summary: 'Past runs of all kinds, the newest first.' })
  @ApiQuery({ name: 'kind', required: false, enum: HISTORY_KINDS })
  @ApiQuery({ name: 'status', required: false, enum: HISTORY_STATUSES, description: '`failed` includes timeouts' })
  @ApiQuery({ name: 'q', required: false, description: 'A part of the title, in any case' })
  @ApiQuery({ name: 'days', required: false, description: `Default: ${HISTORY_DAYS}, at most ${HISTORY_DAYS_MAX}` })
  @ApiQuery({ name: 'limit', required: false, description: `Default: ${HISTORY_LIMIT}, at most ${HISTORY_LIMIT_MAX}` })
  @ApiQuery({ name: 'offset', required: false, description: `Default: 0, at most ${HISTORY_OFFSET_MAX}` })
  async history(@CurrentUser() { userId }: SignedInUser, @Query() query: HistoryRequest) {
    const { runs, hasMore } = await this.past.page(userId, historyQuestion(query), this.clock.now());
    return { runs, has_more: hasMore };
  }
}
