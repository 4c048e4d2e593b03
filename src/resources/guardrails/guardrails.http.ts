import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import {
  type GuardrailCount,
  type GuardrailEventFilter,
  GuardrailEventQueries,
  type GuardrailEventRecord,
} from '../../../projections/guardrail-events/guardrail-events.queries.js';
import { Clock } from '../../kernel/clock.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import type { SignedInUser } from '../identity/caller.js';
import { Reaching } from '../identity/reaching.js';
import { CurrentUser } from '../identity/identity.http.js';
import { actionsOf, CHECK_CATALOG } from './guardrail-catalog.policy.js';
import { DEFAULT_BLOCK_MESSAGE, DEFAULT_PII_ENTITIES } from './guardrail-config.policy.js';
import { GuardrailOptions } from './guardrail-options.js';
import { GUARDRAIL_ACTIONS, GUARDRAIL_CHECKS, GUARDRAIL_MODES, GUARDRAIL_STAGES, PII_ENTITIES } from './guardrail.policy.js';
import {
  EVENTS_PER_PAGE,
  EVENTS_PER_PAGE_MAX,
  GuardrailEventsQuery,
  GuardrailSummaryQuery,
  SUMMARY_DAYS,
  SUMMARY_DAYS_MAX,
} from './guardrails.dto.js';
import { inQuery } from '../../kernel/access.js';

const DAY_MS = 86_400_000;

const agentNotFound = () => new Rejection('agent-not-found', 'Agent not found');

/** The available checks, and the decisions that guardrails recorded. */
@ApiTags('Guardrails')
@Controller('api/guardrails')
export class GuardrailsController {
  constructor(
    private readonly events: GuardrailEventQueries,
    private readonly agents: AgentQueries,
    private readonly clock: Clock,
    private readonly options: GuardrailOptions,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'The checks that agents can use, and the floor that applies to all agents' })
  @Access({ for: 'user', action: 'describe', of: 'guardrails', scopes: ['agents:read'] })
  @Get('catalog')
  catalog() {
    const { enabled, checks, floor } = this.options.settings;
    return {
      success: true,
      enabled,
      checks: GUARDRAIL_CHECKS.map((name) => {
        const { label, description, stages, redacts, kind, latencyHintMs } = CHECK_CATALOG[name];
        return {
          ...{ name, label, description, stages, supports_redaction: redacts, latency_hint_ms: latencyHintMs },
          ...{ remote: kind === 'remote', available: enabled && checks.has(name) },
        };
      }),
      stages: GUARDRAIL_STAGES,
      modes: GUARDRAIL_MODES,
      actions_by_stage: Object.fromEntries(GUARDRAIL_STAGES.map((stage) => [stage, actionsAt(stage)])),
      default_block_message: DEFAULT_BLOCK_MESSAGE,
      pii_entities: PII_ENTITIES,
      default_pii_entities: DEFAULT_PII_ENTITIES,
      floor: (enabled && floor && floorRecord(floor)) || null,
    };
  }

  @ApiOperation({
    summary: 'The decisions of guardrails, newest first: one entry per control of a turn, without any part of the texts',
  })
  @ApiQuery({ name: 'agent_id', required: false, description: 'Only the decisions about this agent' })
  @ApiQuery({ name: 'limit', required: false, description: `Default: ${EVENTS_PER_PAGE}, at most ${EVENTS_PER_PAGE_MAX}` })
  @ApiQuery({ name: 'offset', required: false, description: 'Default: 0' })
  @Access({
    for: 'user',
    action: 'read',
    of: 'agents',
    scopes: ['analytics:read'],
    at: inQuery('agent_id'),
    granted: 'view_logs',
  })
  @Get('events')
  async list(@CurrentUser() user: SignedInUser, @Query() query: GuardrailEventsQuery) {
    const filter = await this.filterFor(user, query.agent_id);
    const found = await this.events.page(filter, query.limit ?? EVENTS_PER_PAGE, query.offset ?? 0);
    return { success: true, events: found.map(eventRecord) };
  }

  @ApiOperation({ summary: 'The numbers of decisions of guardrails, by control and outcome' })
  @ApiQuery({ name: 'agent_id', required: false, description: 'Only the decisions about this agent' })
  @ApiQuery({ name: 'days', required: false, description: `Default: ${SUMMARY_DAYS}, at most ${SUMMARY_DAYS_MAX}` })
  @Access({
    for: 'user',
    action: 'read',
    of: 'agents',
    scopes: ['analytics:read'],
    at: inQuery('agent_id'),
    granted: 'view_logs',
  })
  @Get('summary')
  async summary(@CurrentUser() user: SignedInUser, @Query() query: GuardrailSummaryQuery) {
    const filter = await this.filterFor(user, query.agent_id);
    const since = new Date(this.clock.now().getTime() - (query.days ?? SUMMARY_DAYS) * DAY_MS);
    const counts = await this.events.counts(filter, since);
    return {
      success: true,
      breakdown: counts.map(({ check, ...rest }) => ({ check_name: check, ...rest })),
      totals: totalsOf(counts),
    };
  }

  private async filterFor(user: SignedInUser, agentId: string | undefined): Promise<GuardrailEventFilter> {
    if (agentId === undefined || agentId === '') return { ownerId: user.userId };
    const found = isId(agentId) ? await this.agents.byId(agentId) : undefined;
    const agent = await this.reaching.reached(user, found, 'agents', 'view_logs', agentNotFound);
    return { ownerId: agent.ownerId, agentId: agent.id };
  }
}

/** The actions that at least one check supports at a stage. */
const actionsAt = (stage: (typeof GUARDRAIL_STAGES)[number]) =>
  GUARDRAIL_ACTIONS.filter((action) =>
    GUARDRAIL_CHECKS.some((check) => CHECK_CATALOG[check].stages.includes(stage) && actionsOf(check).includes(action)),
  );

const floorRecord = ({ mode, failOpen, controls }: NonNullable<GuardrailOptions['settings']['floor']>) => ({
  mode,
  fail_open: failOpen,
  controls: controls.map(({ check, stage, action }) => ({ check, stage, action })),
});

const eventRecord = (event: GuardrailEventRecord) => ({
  id: event.id,
  agent_id: event.agentId,
  message_id: event.messageId,
  request_id: event.requestId,
  stage: event.stage,
  check_name: event.check,
  detector_type: event.detector,
  action: event.action,
  outcome: event.outcome,
  category: event.category,
  score: event.score,
  match_count: event.matchCount,
  detail: null,
  created_at: event.createdAt.toISOString(),
});

function totalsOf(counts: readonly GuardrailCount[]) {
  const totalOf = (holds: (count: GuardrailCount) => boolean) => counts.filter(holds).reduce((sum, { total }) => sum + total, 0);
  const triggered = (action: string) => totalOf((count) => count.outcome === 'triggered' && count.action === action);
  return {
    blocked: triggered('block'),
    flagged: triggered('flag'),
    redacted: triggered('redact'),
    not_evaluated: totalOf(({ outcome }) => outcome === 'not_evaluated'),
  };
}
