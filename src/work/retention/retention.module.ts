import { Module } from '@nestjs/common';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { Config } from '../../platform/config/config.js';
import { ApplyRetention } from './apply-retention.ticker.js';
import { TruncatePurged } from './truncate-purged.reaction.js';
import { RetentionOptions } from './retention-options.js';
import { RetentionRules } from './retention-rule.port.js';

const REACTIONS = [TruncatePurged];
const TICKERS = [ApplyRetention];

/** What is kept for a time only is purged once that is over. Features add what is theirs. */
@Module({
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ExpiringQueries,
    RetentionRules,
    {
      provide: RetentionOptions,
      inject: [Config],
      useFactory: ({ retentionEveryMs }: Config) => new RetentionOptions(retentionEveryMs),
    },
  ],
  exports: [...REACTIONS, ...TICKERS, RetentionRules, ExpiringQueries],
})
export class RetentionModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
}
