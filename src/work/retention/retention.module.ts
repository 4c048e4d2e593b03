import { Module } from '@nestjs/common';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { Config } from '../../platform/config/config.js';
import { ApplyRetention } from './apply-retention.ticker.js';
import { TruncatePurged } from './truncate-purged.reaction.js';
import { RetentionOptions } from './retention-options.js';

const REACTIONS = [TruncatePurged];
const TICKERS = [ApplyRetention];

/** Purges items after their retention, by the rules of all rooms. */
@Module({
  providers: [
    ExpiringQueries,
    ...REACTIONS,
    ...TICKERS,
    {
      provide: RetentionOptions,
      inject: [Config],
      useFactory: ({ retentionEveryMs }: Config) => new RetentionOptions(retentionEveryMs),
    },
  ],
  exports: [...REACTIONS, ...TICKERS],
})
export class RetentionModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
}
