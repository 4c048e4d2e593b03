import { Module, type OnModuleInit } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { RetentionModule } from '../../work/retention/retention.module.js';
import { RetentionRules } from '../../work/retention/retention-rule.port.js';
import { WakesModule } from '../follow-ups/wakes.module.js';
import { EndJobsOfConversation } from './end-jobs-of-conversation.reaction.js';
import { ForgetJobHandler } from './forget-job.command.js';
import { ForgetJobs } from './forget-jobs.js';
import { JobsModule } from './jobs.module.js';
import { LoseJobHandler } from './lose-job.command.js';
import { LoseJobs } from './lose-jobs.ticker.js';
import { TellOfJobHandler } from './tell-of-job.command.js';
import { WakeForJobs } from './wake-for-jobs.ticker.js';

/** What becomes of jobs without anybody asking: they are found lost, told where they began, and forgotten. */
@Module({
  imports: [JobsModule, RetentionModule, WakesModule],
  providers: [
    ConversationQueries,
    UnsealedTurnQueries,
    LoseJobHandler,
    LoseJobs,
    TellOfJobHandler,
    WakeForJobs,
    ForgetJobHandler,
    ForgetJobs,
    EndJobsOfConversation,
  ],
  exports: [LoseJobs, WakeForJobs, EndJobsOfConversation],
})
export class JobEndsModule implements OnModuleInit {
  constructor(
    private readonly retention: RetentionRules,
    private readonly forgetJobs: ForgetJobs,
  ) {}

  onModuleInit(): void {
    this.retention.add(this.forgetJobs);
  }
}
