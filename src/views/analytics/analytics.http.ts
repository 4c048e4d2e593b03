import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AgentNameQueries } from '../../../projections/agents/agent-names.queries.js';
import type { AnalyticsScope } from '../../../projections/analytics-filters.js';
import { AnalyticsQueries, type TokensOfBucket } from '../../../projections/analytics/analytics.queries.js';
import { MessageAnalyticsQueries } from '../../../projections/conversations/message-analytics.queries.js';
import { ScheduleAnalyticsQueries } from '../../../projections/schedules/schedule-analytics.queries.js';
import { FAMILIES } from '../../kernel/access.js';
import { Clock } from '../../kernel/clock.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { AnalyticsRequest, GROUPINGS, TokenAnalyticsRequest } from './analytics.dto.js';
import { type Buckets, bucketsOf, filled, FILTER_OPTIONS } from './buckets.policy.js';
import { OwnAgent } from './own-agent.js';

const EXAMPLE = { filter_option: 'last_7_days' };
const ACCESS = {
  for: 'user',
  action: 'read',
  of: 'analytics',
  scopes: ['analytics:read'],
  closedToRestricted: FAMILIES,
} as const;

const UNKNOWN_MODEL = 'unknown';
const NO_AGENT = 'No agent';
const NO_FEEDBACK = { positive: 0, negative: 0 };
const NO_RUNS = { completed: 0, failed: 0, skipped: 0 };

/** The numbers of questions, tokens, tools and ratings: of a user, or of one of the user's agents for all users who asked it. */
@ApiTags('Analytics')
@Controller('api')
export class AnalyticsController {
  constructor(
    private readonly analytics: AnalyticsQueries,
    private readonly conversations: MessageAnalyticsQueries,
    private readonly schedules: ScheduleAnalyticsQueries,
    private readonly agentNames: AgentNameQueries,
    private readonly ownAgent: OwnAgent,
    private readonly clock: Clock,
  ) {}

  @ApiOperation({ summary: 'The number of questions by minute, hour or day' })
  @DocumentedBody({ type: AnalyticsRequest }, EXAMPLE)
  @Access(ACCESS)
  @Post('get_message_analytics')
  @HttpCode(200)
  async messages(@CurrentUser() user: SignedInUser, @Body() body: AnalyticsRequest) {
    const { scope, buckets } = await this.wanted(user, body, ['conversations']);
    const rows = await this.conversations.messages(scope, buckets);
    return { success: true, messages: filled(buckets, new Map(rows.map(({ bucket, messages }) => [bucket, messages])), 0) };
  }

  @ApiOperation({ summary: 'The number of tokens by minute, hour or day, and by group' })
  @DocumentedBody({ type: TokenAnalyticsRequest }, { ...EXAMPLE, group_by: 'model' })
  @Access(ACCESS)
  @Post('get_token_analytics')
  @HttpCode(200)
  async tokens(@CurrentUser() user: SignedInUser, @Body() body: TokenAnalyticsRequest) {
    const groupBy = oneOf(GROUPINGS, body.group_by || 'none');
    const { scope, buckets } = await this.wanted(user, body, ['analytics']);
    const rows = await this.analytics.tokens(scope, buckets, groupBy, !isNo(body.include_side_channel));
    const names = groupBy === 'agent' ? await this.agentNames.ownedBy(user.userId) : new Map<string, string>();
    const nameOf = ({ group }: TokensOfBucket): string => {
      if (groupBy !== 'agent') return group ?? UNKNOWN_MODEL;
      return group === null ? NO_AGENT : (names.get(group) ?? group);
    };
    const total = ({ prompt, generated }: TokensOfBucket) => prompt + generated;
    const groups = [...new Set(rows.map(nameOf))].map((name) => [name, rows.filter((row) => nameOf(row) === name)] as const);
    return {
      success: true,
      token_usage: filled(buckets, summed(rows, total), 0),
      group_by: groupBy,
      series:
        groupBy === 'none'
          ? {
              prompt: filled(
                buckets,
                summed(rows, ({ prompt }) => prompt),
                0,
              ),
              generated: filled(
                buckets,
                summed(rows, ({ generated }) => generated),
                0,
              ),
            }
          : Object.fromEntries(groups.map(([name, ofGroup]) => [name, filled(buckets, summed(ofGroup, total), 0)])),
    };
  }

  @ApiOperation({ summary: 'The ratings of answers by minute, hour or day' })
  @DocumentedBody({ type: AnalyticsRequest }, EXAMPLE)
  @Access(ACCESS)
  @Post('get_feedback_analytics')
  @HttpCode(200)
  async feedback(@CurrentUser() user: SignedInUser, @Body() body: AnalyticsRequest) {
    const { scope, buckets } = await this.wanted(user, body, ['conversations']);
    return { success: true, feedback: filled(buckets, byBucket(await this.conversations.feedback(scope, buckets)), NO_FEEDBACK) };
  }

  @ApiOperation({ summary: 'The number of calls and failures of each tool' })
  @DocumentedBody({ type: AnalyticsRequest }, EXAMPLE)
  @Access(ACCESS)
  @Post('get_tool_analytics')
  @HttpCode(200)
  async tools(@CurrentUser() user: SignedInUser, @Body() body: AnalyticsRequest) {
    const { scope, buckets } = await this.wanted(user, body, ['analytics']);
    const rows = await this.analytics.tools(scope, buckets);
    return { success: true, tools: rows.map(({ toolName, calls, failures }) => ({ tool_name: toolName, calls, failures })) };
  }

  @ApiOperation({ summary: 'The outcomes of scheduled runs by minute, hour or day' })
  @DocumentedBody({ type: AnalyticsRequest }, EXAMPLE)
  @Access(ACCESS)
  @Post('get_schedule_analytics')
  @HttpCode(200)
  async runs(@CurrentUser() user: SignedInUser, @Body() body: AnalyticsRequest) {
    const { scope, buckets } = await this.wanted(user, body, ['schedules']);
    return { success: true, runs: filled(buckets, byBucket(await this.schedules.runs(scope, buckets)), NO_RUNS) };
  }

  private async wanted(
    user: SignedInUser,
    { api_key_id: agentId, filter_option: option = 'last_30_days' }: AnalyticsRequest,
    readModels: readonly string[],
  ): Promise<Readonly<{ scope: AnalyticsScope; buckets: Buckets }>> {
    const buckets = bucketsOf(oneOf(FILTER_OPTIONS, option), this.clock.now());
    const agent = await this.ownAgent.namedBy(user, agentId, readModels);
    return { scope: agent === undefined ? { ownerId: user.userId } : { agentId: agent }, buckets };
  }
}

/** @throws Rejection invalid-request */
function oneOf<Option extends string>(options: readonly Option[], value: unknown): Option {
  const option = options.find((each) => each === value);
  if (option === undefined) throw new Rejection('invalid-request', 'Invalid option');
  return option;
}

/** False in any form that clients send, including the texts of a form field. */
const isNo = (value: unknown): boolean =>
  value === false ||
  value === null ||
  value === 0 ||
  (typeof value === 'string' && ['false', '0', 'no', ''].includes(value.trim().toLowerCase()));

const byBucket = <Row extends Readonly<{ bucket: string }>>(rows: readonly Row[]) =>
  new Map(rows.map(({ bucket, ...counts }) => [bucket, counts]));

function summed(rows: readonly TokensOfBucket[], tokensOf: (row: TokensOfBucket) => number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.bucket, (sums.get(row.bucket) ?? 0) + tokensOf(row));
  return sums;
}
