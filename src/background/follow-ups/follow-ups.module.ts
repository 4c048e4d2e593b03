import { Module } from '@nestjs/common';
import { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { Clock } from '../../kernel/clock.js';
import { Commands } from '../../kernel/commands.js';
import { Config } from '../../platform/config/config.js';
import { DeliverFollowUps } from './deliver-follow-ups.ticker.js';
import { ExpireFollowUpsHandler } from './expired-follow-ups.commands.js';
import { followUpPurges } from './expired-follow-ups.purges.js';
import { PurgeFollowUpsOfConversation } from './purge-follow-ups-of-conversation.reaction.js';
import { PurgeFollowUps } from './purge-follow-ups.js';
import { RequestedFollowUps } from './requested-follow-ups.js';
import { GatherFollowUpsHandler, RequestFollowUpHandler, CompleteFollowUpsHandler } from './follow-ups.commands.js';
import { FollowUps } from './follow-ups.port.js';

const REACTIONS = [PurgeFollowUpsOfConversation];
const TICKERS = [DeliverFollowUps];
const RETENTION = [PurgeFollowUps];
const HANDLERS = [RequestFollowUpHandler, GatherFollowUpsHandler, CompleteFollowUpsHandler, ExpireFollowUpsHandler];

type Parts = [FollowUpQueries, Commands, Clock];

/** Follow-ups: accepts reports of what conversations wait for, and asks the automatic turns that report them. */
@Module({
  imports: [AnsweringModule],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ...HANDLERS,
    FollowUpQueries,
    { provide: FollowUps, useClass: RequestedFollowUps },
    {
      provide: PurgeFollowUps,
      inject: [Config, FollowUpQueries, Commands, Clock],
      useFactory: ({ backgroundResultRetentionSeconds }: Config, ...parts: Parts) =>
        new PurgeFollowUps(...parts, 1000 * backgroundResultRetentionSeconds),
    },
  ],
  exports: [...REACTIONS, ...TICKERS, ...RETENTION, FollowUps],
})
export class FollowUpsModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly retention = RETENTION;
  static readonly purges = followUpPurges;
}
