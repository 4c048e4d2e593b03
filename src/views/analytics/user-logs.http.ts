import { LOG_TEXTS_BYTES_MAX } from '../../../projections/analytics-filters.js';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { FAMILIES } from '../../kernel/access.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { LOG_EVENT_TYPES, LOG_LEVELS, UserLogsRequest } from './analytics.dto.js';
import { LogEntries } from './log-entries.js';
import { OwnAgent } from './own-agent.js';

const PAGE_SIZE = 10;
const PAGE_SIZE_MAX = 100;
/** The number of newest entries that pages can show. A later page costs more, because the keys of all entries before it are read. */
const ENTRIES_MAX = 10_000;

const READ = ['conversations', 'runs', 'schedules', 'workflow-runs', 'workflows'];

/** The log entries of a user. */
@ApiTags('Analytics')
@Controller('api')
export class UserLogsController {
  constructor(
    private readonly entries: LogEntries,
    private readonly ownAgent: OwnAgent,
  ) {}

  @ApiOperation({
    summary: 'Answers, runs of webhooks, schedules and workflows, the newest first',
    description: `A page has ${PAGE_SIZE} entries by default and at most ${PAGE_SIZE_MAX}. Only the newest ${ENTRIES_MAX} entries can be read. Once the texts on a page fill ${LOG_TEXTS_BYTES_MAX} bytes, the older entries of the type have only the beginnings of theirs, and \`is_shortened\`.`,
  })
  @DocumentedBody({ type: UserLogsRequest }, { page: 1, page_size: 10 })
  @Access({ for: 'user', action: 'read', of: 'analytics', scopes: ['analytics:read'], closedToRestricted: FAMILIES })
  @Post('get_user_logs')
  @HttpCode(200)
  async logs(@CurrentUser() user: SignedInUser, @Body() body: UserLogsRequest) {
    const page = whole(body.page, 1);
    const pageSize = Math.min(whole(body.page_size, PAGE_SIZE), PAGE_SIZE_MAX);
    const [level, type] = [optional(LOG_LEVELS, body.level), optional(LOG_EVENT_TYPES, body.event_type)];
    if (page * pageSize > ENTRIES_MAX) throw new Rejection('invalid-request', 'Invalid option');
    const agentId = await this.ownAgent.namedBy(user, body.api_key_id, READ);
    const filter = { ownerId: user.userId, agentId, level, search: body.search || undefined };
    const { logs, hasMore } = await this.entries.page(filter, type, { page, pageSize });
    return { success: true, logs, page, page_size: pageSize, has_more: hasMore };
  }
}

/** A whole number of at least 1. Smaller numbers become 1. @throws Rejection invalid-request */
function whole(value: unknown, byDefault: number): number {
  const number = value === undefined || value === null || value === '' || value === 0 ? byDefault : Number(value);
  if (Number.isFinite(number)) return Math.max(1, Math.trunc(number));
  throw new Rejection('invalid-request', 'Invalid option');
}

/** @throws Rejection invalid-request */
function optional<Option extends string>(options: readonly Option[], value: unknown): Option | undefined {
  if (value === undefined || value === null) return undefined;
  const option = options.find((each) => each === value);
  if (option === undefined) throw new Rejection('invalid-request', 'Invalid option');
  return option;
}
