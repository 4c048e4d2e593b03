import { Module, type OnModuleInit } from '@nestjs/common';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { Config } from '../../platform/config/config.js';
import { ApplyRetention } from './apply-retention.ticker.js';
import { CutOffForgotten } from './cut-off-forgotten.reaction.js';
import { ExpireJournals } from '../../dialogue/journal/expire-journals.js';
import { RetentionOptions } from './retention-options.js';
import { RetentionRules } from './retention-rule.port.js';

/** What is kept for a time only is forgotten once that is over. Features add what is theirs. */
@Module({
  providers: [
    ExpiringQueries,
    RetentionRules,
    ApplyRetention,
    CutOffForgotten,
    ExpireJournals,
    {
      provide: RetentionOptions,
      inject: [Config],
      useFactory: ({ retentionEveryMs, messageEventsRetentionSeconds }: Config) =>
        new RetentionOptions(retentionEveryMs, messageEventsRetentionSeconds),
    },
  ],
  exports: [ApplyRetention, CutOffForgotten, RetentionRules, ExpiringQueries],
})
export class RetentionModule implements OnModuleInit {
  constructor(
    private readonly rules: RetentionRules,
    private readonly journals: ExpireJournals,
  ) {}

  onModuleInit(): void {
    this.rules.add(this.journals);
  }
}
