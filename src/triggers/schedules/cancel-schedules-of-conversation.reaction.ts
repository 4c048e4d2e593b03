import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { conversationCodec } from '../../dialogue/conversation/conversation.codec.js';
import type { ConversationDeleted, ConversationPurged } from '../../dialogue/conversation/conversation.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { unlessRejected } from '../../kernel/rejection.js';
import { scheduleCodec } from './schedule/schedule.codec.js';
import { CancelSchedule } from './schedule/schedule.commands.js';
import type { ScheduleCreated, ScheduleId } from './schedule/schedule.events.js';

type Followed = ConversationDeleted | ConversationPurged | ScheduleCreated;

/**
 * Cancels the tasks of a deleted chat without an agent, because nothing shows them any more. Schedules that were created in a
 * chat with an agent stay with the agent. Steps for a deleted chat: wait until the read model has all earlier schedules; cancel
 * each. Steps for a new task: wait until the read model has all earlier deletions; cancel the task if its chat is gone. A crash
 * in between repeats the steps for the rest.
 */
@Injectable()
export class CancelSchedulesOfConversation implements Reaction<Followed> {
  readonly name = 'cancel-schedules-of-conversation';
  readonly categories = ['conversation', 'schedule'];
  readonly codec: Codec<Followed> = { ...conversationCodec, ...scheduleCodec };
  readonly on = {
    ConversationDeleted: (event: Recorded<ConversationDeleted>) => this.cancelAll(event),
    ConversationPurged: (event: Recorded<ConversationPurged>) => this.cancelAll(event),
    ScheduleCreated: (event: Recorded<ScheduleCreated>) => this.cancelIfAlone(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly schedules: ScheduleQueries,
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
  ) {}

  private async cancelAll(event: Recorded<ConversationDeleted | ConversationPurged>): Promise<void> {
    await requireReached(this.freshness, ['schedules'], event.position);
    for (const { id, ownerId } of await this.schedules.openOfChat(event.data.conversationId))
      await this.cancel(id, ownerId, event);
  }

  private async cancelIfAlone(event: Recorded<ScheduleCreated>): Promise<void> {
    const { scheduleId, ownerId, origin } = event.data;
    if (origin.agentId !== null || origin.conversationId === null) return;
    await requireReached(this.freshness, ['conversations'], event.position);
    if (!(await this.conversations.isThere(origin.conversationId))) await this.cancel(scheduleId, ownerId, event);
  }

  private async cancel(scheduleId: ScheduleId, ownerId: string, event: Recorded<Followed>): Promise<void> {
    const cause = causedBy(event, `system:${this.name}`);
    // The read model may still list a schedule that was deleted meanwhile.
    await this.commands.execute(new CancelSchedule(scheduleId, ownerId, cause)).catch(unlessRejected('schedule-not-found'));
  }
}
