import { Module, type OnModuleInit } from '@nestjs/common';
import { ExpiringQueries } from '../../../../projections/expiring/expiring.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Config } from '../../../platform/config/config.js';
import { RetentionModule } from '../../../work/retention/retention.module.js';
import { RetentionRules } from '../../../work/retention/retention-rule.port.js';
import { RunsModule } from '../../../background/runs/runs.module.js';
import { ForgetOldOutput } from './forget-old-output.js';
import { ForgetScheduledRuns } from './forget-scheduled-runs.reaction.js';

/** What scheduled runs said is kept for a time only. */
@Module({
  imports: [RetentionModule, RunsModule],
  providers: [
    ForgetScheduledRuns,
    {
      provide: ForgetOldOutput,
      inject: [Config, ExpiringQueries, Streams, Clock],
      useFactory: ({ scheduleRunOutputRetentionSeconds }: Config, ...parts: [ExpiringQueries, Streams, Clock]) =>
        new ForgetOldOutput(...parts, 1000 * scheduleRunOutputRetentionSeconds),
    },
  ],
  exports: [ForgetScheduledRuns],
})
export class ScheduleRetentionModule implements OnModuleInit {
  constructor(
    private readonly retention: RetentionRules,
    private readonly oldOutput: ForgetOldOutput,
  ) {}

  onModuleInit(): void {
    this.retention.add(this.oldOutput);
  }
}
