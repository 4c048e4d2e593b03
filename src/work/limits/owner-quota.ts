import { Injectable } from '@nestjs/common';
import { UsageQueries } from '../../../projections/usage/usage.queries.js';
import { Clock } from '../../kernel/clock.js';
import {
  isUsedUp,
  type Period,
  periodAt,
  quotaExceeded,
  type QuotaPeriod,
  type QuotaStatus,
  quotaText,
  type UsedOfOwner,
} from './limits.policy.js';
import { type QuotaAnswer, RunQuota } from './run-quota.port.js';
import type { QuotaUse } from './quota-use.port.js';

/** The configuration of user quotas. */
export class QuotaOptions {
  constructor(
    readonly period: QuotaPeriod,
    /** Maximum tokens per user and period; undefined for no limit. */
    readonly tokensPerUser: number | undefined,
  ) {}
}

/** Checks the quota of a user in the current period. */
@Injectable()
export class OwnerQuota extends RunQuota implements QuotaUse {
  constructor(
    private readonly usage: UsageQueries,
    private readonly clock: Clock,
    private readonly options: QuotaOptions,
  ) {
    super();
  }

  get period(): QuotaPeriod {
    return this.options.period;
  }

  get tokensPerUser(): number | undefined {
    return this.options.tokensPerUser;
  }

  get isSet(): boolean {
    return this.tokensPerUser !== undefined;
  }

  async check(ownerId: string): Promise<QuotaAnswer> {
    const status = await this.status(ownerId);
    return status && isUsedUp(status) ? { allowed: false, error: quotaText(status) } : { allowed: true };
  }

  /** @throws Rejection quota-exceeded */
  async refuse(ownerId: string): Promise<void> {
    const status = await this.status(ownerId);
    if (status && isUsedUp(status)) throw quotaExceeded(status, this.clock.now());
  }

  async used(ownerId: string): Promise<UsedOfOwner & Readonly<{ period: Period }>> {
    const period = periodAt(this.clock.now(), this.period);
    return { ...(await this.usage.ofOwner(ownerId, period.start)), period };
  }

  private async status(ownerId: string): Promise<QuotaStatus | undefined> {
    const limit = this.tokensPerUser;
    if (limit === undefined) return undefined;
    const { direct, agent, period } = await this.used(ownerId);
    return { used: direct.tokens + agent.tokens, limit, resetsAt: period.end };
  }
}
