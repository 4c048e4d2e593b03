import { Injectable } from '@nestjs/common';
import { NoteBackgroundWork } from '../../dialogue/conversation/additions.commands.js';
import type { BackgroundWorkNoted } from '../../dialogue/conversation/conversation.events.js';
import { Commands } from '../../kernel/commands.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction, ReactionHandlers } from '../../kernel/event-sourcing/reaction.js';
import { jobCodec } from './job.codec.js';
import type { JobEvent } from './job.events.js';

type WorkStatus = BackgroundWorkNoted['data']['status'];

const STATUSES = {
  JobStarted: 'active',
  JobCompleted: 'over',
  JobCancelled: 'over',
  JobFailed: 'failed',
  JobLost: 'failed',
} as const satisfies Partial<Record<JobEvent['type'], WorkStatus>>;

type Noted = Extract<JobEvent, { type: keyof typeof STATUSES }>;

/** Records the status of jobs in their conversations. One step: the command. After a crash it is repeated without effect. */
@Injectable()
export class NoteJobsInConversation implements Reaction<JobEvent> {
  readonly name = 'note-jobs-in-conversation';
  readonly categories = ['job'];
  readonly codec = jobCodec;
  readonly on: ReactionHandlers<JobEvent>;

  constructor(private readonly commands: Commands) {
    const note = (event: Recorded<Noted>) => this.note(event);
    this.on = Object.fromEntries(Object.keys(STATUSES).map((type) => [type, note]));
  }

  private note(event: Recorded<Noted>): Promise<void> {
    const { jobId, conversationId } = event.data;
    const status = STATUSES[event.type];
    const noted = { conversationId, work: { kind: 'job', id: jobId }, status, asOf: event.revision } as const;
    return this.commands.execute(new NoteBackgroundWork(noted, causedBy(event, `system:${this.name}`)));
  }
}
