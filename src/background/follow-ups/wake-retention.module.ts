import { Module, type OnModuleInit } from '@nestjs/common';
import { WakeQueries } from '../../../projections/wakes/wakes.queries.js';
import { Clock } from '../../kernel/clock.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Config } from '../../platform/config/config.js';
import { RetentionModule } from '../../work/retention/retention.module.js';
import { RetentionRules } from '../../work/retention/retention-rule.port.js';
import { ForgetWakes } from './forget-wakes.js';

type Parts = [WakeQueries, EventStore, Streams, Clock];

/** Wakes are kept for a time only. */
@Module({
  imports: [RetentionModule],
  providers: [
    WakeQueries,
    {
      provide: ForgetWakes,
      inject: [Config, WakeQueries, EventStore, Streams, Clock],
      useFactory: ({ backgroundResultRetentionSeconds }: Config, ...parts: Parts) =>
        new ForgetWakes(...parts, 1000 * backgroundResultRetentionSeconds),
    },
  ],
})
export class WakeRetentionModule implements OnModuleInit {
  constructor(
    private readonly retention: RetentionRules,
    private readonly wakes: ForgetWakes,
  ) {}

  onModuleInit(): void {
    this.retention.add(this.wakes);
  }
}
