import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { JobQueries } from '../../../projections/jobs/jobs.queries.js';
import { conversationCodec } from '../../dialogue/conversation/conversation.codec.js';
import type { ConversationDeleted, ConversationPurged } from '../../dialogue/conversation/conversation.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { type Cause, causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { unlessRejected } from '../../kernel/rejection.js';
import { CancelJob, PurgeJob } from './job.commands.js';
import { jobCodec } from './job.codec.js';
import type { JobEnd, JobStarted } from './job.events.js';

type Followed = ConversationDeleted | ConversationPurged | JobStarted | JobEnd;
type OfJob = Recorded<JobStarted> | Recorded<JobEnd>;

/** The latest possible date, so that the time at which the job ended does not matter. */
const ANY_TIME = new Date(8_640_000_000_000_000);

/**
 * Ends and purges the jobs of a deleted conversation. When a conversation is deleted: wait until the read model lists all earlier
 * jobs, then cancel the running ones and purge the others. When a job begins or ends: wait until the read model has all earlier
 * deletions, then do the same with the job if its conversation is gone. After a crash the remaining jobs are handled.
 */
@Injectable()
export class EndJobsOfConversation implements Reaction<Followed> {
  readonly name = 'end-jobs-of-conversation';
  readonly categories = ['conversation', 'job'];
  readonly codec: Codec<Followed> = { ...conversationCodec, ...jobCodec };
  readonly on = {
    ConversationDeleted: (event: Recorded<ConversationDeleted>) => this.endAll(event),
    ConversationPurged: (event: Recorded<ConversationPurged>) => this.endAll(event),
    JobStarted: (event: Recorded<JobStarted>) => this.endIfAlone(event),
    JobCompleted: (event: OfJob) => this.endIfAlone(event),
    JobFailed: (event: OfJob) => this.endIfAlone(event),
    JobCancelled: (event: OfJob) => this.endIfAlone(event),
    JobLost: (event: OfJob) => this.endIfAlone(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly jobs: JobQueries,
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
  ) {}

  private async endAll(event: Recorded<ConversationDeleted | ConversationPurged>): Promise<void> {
    await requireReached(this.freshness, ['jobs'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    for (const job of await this.jobs.inConversation(event.data.conversationId)) await this.end(job, cause);
  }

  private async endIfAlone(event: OfJob): Promise<void> {
    const { jobId, ownerId, conversationId } = event.data;
    await requireReached(this.freshness, ['conversations'], event.position);
    if (await this.conversations.isThere(conversationId)) return;
    const status = event.type === 'JobStarted' ? 'working' : 'over';
    await this.end({ jobId, ownerId, status }, causedBy(event, `system:${this.name}`));
  }

  private async end({ jobId, ownerId, status }: { jobId: string; ownerId: string; status: string }, cause: Cause) {
    if (status !== 'working') return this.commands.execute(new PurgeJob(jobId, ANY_TIME, cause));
    // The job may have been purged meanwhile.
    await this.commands
      .execute(new CancelJob(jobId, ownerId, 'conversation-deleted', cause))
      .catch(unlessRejected('job-not-found'));
  }
}
