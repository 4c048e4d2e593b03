import { Module } from '@nestjs/common';
import { WakeQueries } from '../../../projections/wakes/wakes.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { Clock } from '../../kernel/clock.js';
import { Commands } from '../../kernel/commands.js';
import { Config } from '../../platform/config/config.js';
import { DeliverWakes } from './deliver-wakes.ticker.js';
import { ExpireWakesHandler } from './expired-wakes.commands.js';
import { wakePurges } from './expired-wakes.purges.js';
import { ForgetWakes } from './forget-wakes.js';
import { RequestedWakes } from './requested-wakes.js';
import { GatherWakesHandler, RequestWakeHandler, SettleWakesHandler } from './wakes.commands.js';
import { Wakes } from './wakes.port.js';

const TICKERS = [DeliverWakes];
const RETENTION = [ForgetWakes];
const HANDLERS = [RequestWakeHandler, GatherWakesHandler, SettleWakesHandler, ExpireWakesHandler];

type Parts = [WakeQueries, Commands, Clock];

/** Conversations that go on by themselves: where it is said that something has happened, and how they hear of it. */
@Module({
  imports: [AnsweringModule],
  providers: [
    ...TICKERS,
    ...HANDLERS,
    WakeQueries,
    { provide: Wakes, useClass: RequestedWakes },
    {
      provide: ForgetWakes,
      inject: [Config, WakeQueries, Commands, Clock],
      useFactory: ({ backgroundResultRetentionSeconds }: Config, ...parts: Parts) =>
        new ForgetWakes(...parts, 1000 * backgroundResultRetentionSeconds),
    },
  ],
  exports: [...TICKERS, ...RETENTION, Wakes],
})
export class FollowUpsModule {
  static readonly tickers = TICKERS;
  static readonly retention = RETENTION;
  static readonly purges = wakePurges;
}
