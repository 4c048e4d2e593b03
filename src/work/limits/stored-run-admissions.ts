import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { Rejection } from '../../kernel/rejection.js';
import { type AdmittedRun, RunAdmissions } from './run-admissions.port.js';
import type { QuotaAnswer } from './run-quota.port.js';
import { UsageLimits } from './usage-limits.port.js';

const LIMITS: ReadonlySet<string> = new Set(['usage-limit', 'quota-exceeded']);

/** Applies the limits of questions to headless runs. */
@Injectable()
export class StoredRunAdmissions extends RunAdmissions {
  constructor(
    private readonly limits: UsageLimits,
    private readonly agents: AgentQueries,
  ) {
    super();
  }

  async admit({ runId, stream, ownerId, agentId }: AdmittedRun, upTo?: bigint): Promise<QuotaAnswer> {
    const found = agentId === null ? undefined : await this.agents.byId(agentId);
    const agent = found && { id: found.id, ...found.configuration };
    try {
      await this.limits.admit({ turnId: runId, stream, ownerId, agent, isNewRequest: true }, upTo);
      return { allowed: true };
    } catch (error) {
      if (error instanceof Rejection && LIMITS.has(error.code)) return { allowed: false, error: error.message };
      throw error;
    }
  }
}
