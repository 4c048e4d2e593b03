import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { UsageQueries } from '../../../projections/usage/usage.queries.js';
import { Config } from '../../platform/config/config.js';
import { OwnerQuota, QuotaOptions } from './owner-quota.js';
import { RunAdmissions } from './run-admissions.port.js';
import { RunQuota } from './run-quota.port.js';
import { RequestPlaces } from './request-places.js';
import { StoredRunAdmissions } from './stored-run-admissions.js';
import { LinkQuota, StoredUsageLimits } from './stored-usage-limits.js';
import { UsageLimits } from './usage-limits.port.js';
import { limitsRejections } from './limits.rejections.js';
import { QuotaUse } from './quota-use.port.js';

/** Usage limits of agents and users. Every use of a model is checked here first. */
@Module({
  providers: [
    UsageQueries,
    {
      provide: QuotaOptions,
      inject: [Config],
      useFactory: ({ quotaPeriod, quotaTokensPerUser }: Config) => new QuotaOptions(quotaPeriod, quotaTokensPerUser),
    },
    OwnerQuota,
    RequestPlaces,
    {
      provide: LinkQuota,
      inject: [Config],
      useFactory: ({ linkRequestsPerDayMax, linkTokensPerDayMax }: Config) =>
        new LinkQuota(linkRequestsPerDayMax, linkTokensPerDayMax),
    },
    { provide: RunQuota, useExisting: OwnerQuota },
    { provide: QuotaUse, useExisting: OwnerQuota },
    { provide: UsageLimits, useClass: StoredUsageLimits },
    AgentQueries,
    { provide: RunAdmissions, useClass: StoredRunAdmissions },
  ],
  exports: [RunAdmissions, RunQuota, QuotaUse, UsageLimits],
})
export class LimitsModule {
  static readonly rejections = limitsRejections;
}
