import { Module, type OnModuleInit } from '@nestjs/common';
import { WakeQueries } from '../../../projections/wakes/wakes.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { Clock } from '../../kernel/clock.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Config } from '../../platform/config/config.js';
import { RetentionModule } from '../../work/retention/retention.module.js';
import { RetentionRules } from '../../work/retention/retention-rule.port.js';
import { DeliverWakes } from './deliver-wakes.ticker.js';
import { wakePurges } from './expired-wakes.purges.js';
import { ForgetWakes } from './forget-wakes.js';
import { RequestedWakes } from './requested-wakes.js';
import { Wakes } from './wakes.port.js';

const TICKERS = [DeliverWakes];

type Parts = [WakeQueries, EventStore, Streams, Clock];

/** Conversations that go on by themselves: where it is said that something has happened, and how they hear of it. */
@Module({
  imports: [AnsweringModule, RetentionModule],
  providers: [
    ...TICKERS,
    WakeQueries,
    { provide: Wakes, useClass: RequestedWakes },
    {
      provide: ForgetWakes,
      inject: [Config, WakeQueries, EventStore, Streams, Clock],
      useFactory: ({ backgroundResultRetentionSeconds }: Config, ...parts: Parts) =>
        new ForgetWakes(...parts, 1000 * backgroundResultRetentionSeconds),
    },
  ],
  exports: [...TICKERS, Wakes],
})
export class FollowUpsModule implements OnModuleInit {
  static readonly tickers = TICKERS;
  static readonly purges = wakePurges;

  constructor(
    private readonly retention: RetentionRules,
    private readonly wakes: ForgetWakes,
  ) {}

  onModuleInit(): void {
    this.retention.add(this.wakes);
  }
}
