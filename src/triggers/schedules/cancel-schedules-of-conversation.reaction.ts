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
import { Rejection } from '../../kernel/rejection.js';
import { scheduleCodec } from './schedule/schedule.codec.js';
import { CancelSchedule } from './schedule/schedule.commands.js';
import type { ScheduleCreated, ScheduleId } from './schedule/schedule.events.js';

type Followed = ConversationDeleted | ConversationPurged | ScheduleCreated;

/**
 * Cancels the tasks of a deleted chat without an agent, which could not be seen any more. Schedules that were made in a chat with
 * an agent stay with the agent. Steps, of a chat that is deleted: wait until the schedules of before are listed; cancel each. Of a
 * task that was made: wait until deletions of before are known; where its chat is gone, cancel it. A crash in between repeats it
 * for those that are left.
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
    await this.commands.execute(new CancelSchedule(scheduleId, ownerId, cause)).catch(unlessGone);
  }
}

/** The list may be older than the deletion. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Rejection) || error.code !== 'schedule-not-found') throw error;
}
