import { Module } from '@nestjs/common';
import { UsageQueries } from '../../../projections/usage/usage.queries.js';
import { Config } from '../../platform/config/config.js';
import { OwnerQuota, QuotaOptions } from './owner-quota.js';
import { RunQuota } from './run-quota.port.js';
import { RequestPlaces } from './request-places.js';
import { StoredUsageLimits } from './stored-usage-limits.js';
import { UsageLimits } from './usage-limits.port.js';
import { limitsRejections } from './limits.rejections.js';
import { QuotaUse } from './quota-use.port.js';

/** How much may be used: by the bearers of an agent's keys, and by each user. Every way to a model asks here first. */
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
    { provide: RunQuota, useExisting: OwnerQuota },
    { provide: QuotaUse, useExisting: OwnerQuota },
    { provide: UsageLimits, useClass: StoredUsageLimits },
  ],
  exports: [RunQuota, QuotaUse, UsageLimits],
})
export class LimitsModule {
  static readonly rejections = limitsRejections;
}
